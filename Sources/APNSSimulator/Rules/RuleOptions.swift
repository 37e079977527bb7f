public import APNSProtocol

/// What Apple does not say, or says in two ways: switches, with the default that practice suggests.
public struct RuleOptions: Sendable {
    /// What is looked at first when several things are wrong with a request.
    public enum Order: String, CaseIterable, Sendable {
        /// The headers' form, then path and device token, then the provider token (as pushy's mock server does).
        case headersFirst = "headers-first"
        /// The provider token before everything but method and path.
        case authenticationFirst = "authentication-first"
    }

    /// How often a connection may come with a new provider token.
    public enum TokenUpdates: String, CaseIterable, Sendable {
        /// Once in 20 minutes; the first token of a connection does not count.
        case lax
        /// Once in 20 minutes; the first token counts.
        case strict
        /// As often as it likes.
        case off
    }

    /// What is taken for the same word.
    public enum LetterCase: String, CaseIterable, Sendable {
        /// What is written just so.
        case exact
        /// Upper and lower case alike.
        case any
    }

    /// What becomes of a stream that a connection may not have.
    public enum GateViolation: String, CaseIterable, Sendable {
        /// It is reset with REFUSED_STREAM.
        case reset
        /// The connection is told to go away with REFUSED_STREAM and a plain text.
        case goAway = "goaway"
    }

    /// How a connection is ended that is not wanted any more.
    public enum ConnectionClosing: String, CaseIterable, Sendable {
        /// By GOAWAY with the reason.
        case goAway = "goaway"
        /// Without a word.
        case close
    }

    /// How a connection is told that it was idle for too long.
    public enum IdleEnd: String, CaseIterable, Sendable {
        /// By GOAWAY with `IdleTimeout`, at once.
        case goAway = "goaway"
        /// Its next request is answered with 400 `IdleTimeout`.
        case answer
    }

    public var order = Order.headersFirst
    /// Streams of a connection before its first push with a valid provider token.
    public var gate = ServerStreamGate.Mode.enforce
    /// What becomes of streams beyond what the gate lets through.
    public var gateViolation = GateViolation.reset
    /// Streams of a connection after that.
    public var streamsMax = 1000
    public var tokenUpdates = TokenUpdates.lax
    /// Whether related keys have their updates counted each by itself.
    public var countsTokenUpdatesPerKey = false
    /// How old a provider token may be, in seconds; what is older is refused with `ExpiredProviderToken`.
    public var tokenAgeSecondsMax = Int(APNSLimits.providerTokenAgeSecondsMax)
    /// How far `iat` may lie in the future before a token is refused, in seconds.
    public var futureTokenSecondsMax = 3600
    /// What a token from further in the future is refused with.
    public var futureTokenReason = Reason.invalidProviderToken
    /// Whether `iat` may be a text of seconds, as kalyke and former versions of APNSwift send it, whose pushes Apple takes.
    public var acceptsTextIssuedAt = true
    /// What a token of another team than the connection's first is refused with.
    public var otherTeamReason = Reason.invalidProviderToken
    /// What a team-scoped key is refused with after one of topics, and the other way round.
    public var keyScopeReason = Reason.unrelatedKeyIDInToken
    /// What a key of the other environment is refused with: Apple documents another spelling than was seen.
    public var keyEnvironmentReason = Reason.badEnvironmentKeyIDInToken
    /// Whether channel management tells these faults of keys by their own reasons, which Apple does not list for it, and
    /// not as `InvalidProviderToken`.
    public var channelsTellKeyFaults = true
    /// Whether a second team-scoped key of the same team may be used on a connection, as when keys are rotated.
    public var allowsTeamKeyRotation = true
    /// What a push is refused with to a topic that is not the team's, or not the key's.
    public var foreignTopicReason = Reason.topicDisallowed
    /// What a push is refused with whose topic has not the suffix of its type.
    public var wrongSuffixReason = Reason.topicDisallowed
    /// Pushes to one device token within a second of the clock before 429 `TooManyRequests`; nil for no limit.
    public var requestsPerDeviceMax: Int?
    /// Broadcasts to one channel within a second of the clock before 429 `TooManyRequests`; nil for no limit.
    public var requestsPerChannelMax: Int?
    /// What `Retry-After` says with `TooManyRequests`, in seconds; nil: there is none, as with APNs as far as is known.
    public var retryAfterSeconds: Int?
    /// What is said of a wrong method on the paths of broadcasts and channels: Apple lists `MethodNotAllowed` and
    /// `BadPath` for it.
    public var wrongMethodReason = Reason.methodNotAllowed
    /// Whether a broadcast without `apns-expiration` is refused with `BadExpirationDate`: Apple calls it required, and
    /// leaves it out of a sample.
    public var demandsBroadcastExpiration = false
    /// Whether a broadcast without `apns-priority` is refused with `BadPriority`: Apple calls it required.
    public var demandsBroadcastPriority = false
    /// What a broadcast is refused with to a channel of another app, or of the other environment.
    public var foreignChannelReason = Reason.channelNotRegistered
    /// What is said of a `location` push of a provider that is known by its certificate: these take tokens only.
    public var locationByCertificateReason = Reason.forbidden
    /// What a `background` push at priority 10 is refused with; nil: it is taken.
    public var backgroundImmediateReason: Reason? = .badPriority
    /// What `background`, `liveactivity` and `voip` pushes at priority 1 are refused with; nil: they are taken.
    public var powerFirstReason: Reason?
    /// What a `background` push is refused with that has an alert, a badge or a sound; nil: it is taken.
    public var backgroundContentReason: Reason?
    /// What a body is refused with that cannot be a JSON object, or says that it is compressed; nil: it is taken.
    public var malformedPayloadReason: Reason? = .payloadEmpty
    /// Greatest payload of `mdm`, `widgets` and `controls`, in bytes, of which Apple gives no figure of their own.
    public var otherPayloadBytesMax = APNSLimits.payloadBytesMax
    /// Whether the case of `apns-push-type` matters.
    public var pushTypeCase = LetterCase.exact
    /// Whether `apns-id` has to be in lower case, as Apple writes it.
    public var idCase = LetterCase.any
    /// Whether a header that APNs knows may come twice when both say the same.
    public var acceptsEqualDuplicates = false
    /// What an `apns-expiration` in the past is refused with; nil: it is taken. 0 is not in the past.
    public var pastExpirationReason: Reason?
    /// What an `apns-expiration` is refused with that can only be in milliseconds; nil: it is taken.
    public var millisecondsExpirationReason: Reason?
    /// Refusals with a 4xx status, 410 apart, in a row before a connection may have one stream only, until something is
    /// accepted; nil: it keeps its streams. Not with the gate off. Observers saw 1 (openradar 27870881, pushy#732).
    public var errorsInARowMax: Int? = 50
    /// Such refusals of a connection within ``errorsWindowSeconds`` before it is ended; nil: it never is.
    public var errorsMax: Int? = 1000
    /// Those of them with `BadDeviceToken`, which APNs suffers less of.
    public var badDeviceTokensMax: Int? = 200
    public var errorsWindowSeconds = 60
    /// How it is ended then.
    public var errorsEnd = ConnectionClosing.goAway
    /// Connections of less than ten requests that one address may open and close within
    /// ``shortConnectionsWindowSeconds`` before it is refused; nil: it never is.
    public var shortConnectionsMax: Int? = 3000
    public var shortConnectionsWindowSeconds = 10
    /// How long it is refused then.
    public var refusalSeconds = 30
    /// How long a connection may be without request; nil: for ever.
    public var idleSecondsMax: Int?
    public var idleEnd = IdleEnd.goAway
    /// A connection that was without request so long answers all that come with 500 `InternalServerError`, as was seen;
    /// nil: none does.
    public var staleIdleSeconds: Int?
    /// Whether a push without provider token is served, for load tests of what is behind the token.
    public var servesWithoutToken = false

    /// Whether it matters how long a connection was idle before a request.
    var looksAtIdleness: Bool { staleIdleSeconds != nil || idleSecondsMax != nil }

    public init() {}
}
