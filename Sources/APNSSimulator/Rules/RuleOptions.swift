public import APNSProtocol

/// Options for behavior that Apple does not document, or documents in two ways, and for load tests. Where APNs was not
/// observed, the default is a guess.
public struct RuleOptions: Sendable {
    /// The order of the checks, which determines the answer to a request with several errors.
    public enum Order: String, CaseIterable, Sendable {
        /// Method, path, headers and device token before the provider token, as in pushy's mock server.
        case headersFirst = "headers-first"
        /// The provider token before everything except method and path.
        case authenticationFirst = "authentication-first"
    }

    /// The limit on new provider tokens of a connection.
    public enum TokenUpdates: String, CaseIterable, Sendable {
        /// One token in 20 minutes. The connection's first token does not count.
        case lax
        /// One token in 20 minutes. The connection's first token counts.
        case strict
        /// No limit.
        case off
    }

    /// The comparison of letter case.
    public enum LetterCase: String, CaseIterable, Sendable {
        /// A comparison that respects case.
        case exact
        /// A comparison that ignores case.
        case any
    }

    /// The reaction to a stream beyond the gate's limit.
    public enum GateViolation: String, CaseIterable, Sendable {
        /// A reset of the stream with REFUSED_STREAM.
        case reset
        /// A GOAWAY with REFUSED_STREAM, whose debug data is plain text.
        case goAway = "goaway"
    }

    /// The closing of a connection with too many refusals.
    public enum ConnectionClosing: String, CaseIterable, Sendable {
        /// A close with GOAWAY and the reason.
        case goAway = "goaway"
        /// A close without GOAWAY.
        case close
    }

    /// The reaction to a connection that is idle for too long.
    public enum IdleEnd: String, CaseIterable, Sendable {
        /// GOAWAY with `IdleTimeout` after the idle time.
        case goAway = "goaway"
        /// Status 400 `IdleTimeout` for the next request.
        case answer
    }

    public var order = Order.headersFirst
    /// Whether and how the simulator limits streams before the connection's first push with a valid provider token.
    public var gate = ServerStreamGate.Mode.enforce
    /// Reaction to streams beyond the gate's limit.
    public var gateViolation = GateViolation.reset
    /// Maximum number of open streams on a connection once the gate is open.
    public var streamsMax = 1000
    public var tokenUpdates = TokenUpdates.lax
    /// Whether the limit of new tokens applies to each related key separately.
    public var countsTokenUpdatesPerKey = false
    /// Maximum age of a provider token, in seconds. Older tokens are refused with `ExpiredProviderToken`.
    public var tokenAgeSecondsMax = Int(APNSLimits.providerTokenAgeSecondsMax)
    /// The maximum seconds by which `iat` may be in the future.
    public var futureTokenSecondsMax = 3600
    /// Reason for a token that exceeds ``futureTokenSecondsMax``.
    public var futureTokenReason = Reason.invalidProviderToken
    /// Whether `iat` may be a string of seconds. kalyke and old versions of APNSwift send such a string, and APNs
    /// accepts their pushes.
    public var acceptsTextIssuedAt = true
    /// Reason for a token of another team than the team of the connection's first token.
    public var otherTeamReason = Reason.invalidProviderToken
    /// Reason for a team-scoped key after a topic-specific key, or the reverse.
    public var keyScopeReason = Reason.unrelatedKeyIDInToken
    /// Reason for a key of the other environment. The documented spelling differs from the observed one.
    public var keyEnvironmentReason = Reason.badEnvironmentKeyIDInToken
    /// Whether channel management returns ``keyScopeReason`` and ``keyEnvironmentReason``, which Apple does not list
    /// for channel management. If false, channel management returns `InvalidProviderToken`.
    public var channelsReportKeyFaults = true
    /// Whether a connection may use further team-scoped keys of the same team, for example after a key rotation.
    public var allowsTeamKeyRotation = true
    /// Reason for a topic that does not belong to the team, the key or the certificate.
    public var foreignTopicReason = Reason.topicDisallowed
    /// Reason for a topic without the suffix of the push type.
    public var wrongSuffixReason = Reason.topicDisallowed
    /// Maximum pushes to one device token in a second of the clock; nil for no limit. Further pushes receive 429
    /// `TooManyRequests`.
    public var requestsPerDeviceMax: Int?
    /// Maximum broadcasts to one channel in a second of the clock; nil for no limit. Further broadcasts receive 429
    /// `TooManyRequests`.
    public var requestsPerChannelMax: Int?
    /// Value of `retry-after` with `TooManyRequests`, in seconds; nil for no such header. APNs is not known to send
    /// the header.
    public var retryAfterSeconds: Int?
    /// Reason for a wrong method on the paths of broadcasts and channels. Apple lists `MethodNotAllowed` and `BadPath`.
    public var wrongMethodReason = Reason.methodNotAllowed
    /// Whether a broadcast without `apns-expiration` is refused with `BadExpirationDate`. Apple calls the header
    /// required, but omits it in a sample.
    public var demandsBroadcastExpiration = false
    /// Whether a broadcast without `apns-priority` is refused with `BadPriority`. Apple calls the header required.
    public var demandsBroadcastPriority = false
    /// Reason for a channel of another app or of the other environment.
    public var foreignChannelReason = Reason.channelNotRegistered
    /// Reason for a `location` push with a certificate. Such pushes require a provider token.
    public var locationByCertificateReason = Reason.forbidden
    /// Reason for a `background` push with priority 10; nil accepts the push.
    public var backgroundImmediateReason: Reason? = .badPriority
    /// Reason for `background`, `liveactivity` and `voip` pushes with priority 1; nil accepts the push.
    public var powerFirstReason: Reason?
    /// Reason for a `background` push with an alert, a badge or a sound; nil accepts the push.
    public var backgroundContentReason: Reason?
    /// Reason for a body that is not a JSON object or is declared as compressed; nil accepts the push. If a
    /// reason is set, a broadcast with such a body receives `BadRequestPayload` instead.
    public var malformedPayloadReason: Reason? = .payloadEmpty
    /// Maximum payload of `mdm`, `widgets` and `controls`, in bytes. Apple gives no separate figures for these types.
    public var otherPayloadBytesMax = APNSLimits.payloadBytesMax
    /// Required letter case of `apns-push-type` in device pushes. The value `exact` requires Apple's spelling.
    public var pushTypeCase = LetterCase.exact
    /// Required letter case of `apns-id` and `apns-request-id`. The value `exact` requires lower case, as in Apple's
    /// documentation.
    public var idCase = LetterCase.any
    /// Whether a header may be repeated if all of its values are equal.
    public var acceptsEqualDuplicates = false
    /// Reason for an `apns-expiration` in the past; nil accepts the push. 0 is not in the past.
    public var pastExpirationReason: Reason?
    /// Reason for an `apns-expiration` of `HeaderForm.unixSecondsMax` or more, which must be a time in milliseconds;
    /// nil accepts the push.
    public var millisecondsExpirationReason: Reason?
    /// Maximum consecutive refusals (4xx except 410). A further refusal limits the connection to one stream until a
    /// request is accepted; nil for no limit. The limit has no effect if the gate is off. Observers saw APNs lower
    /// the limit after the first refusal (openradar 27870881, pushy#732).
    public var errorsInARowMax: Int? = 50
    /// Maximum refusals (4xx except 410) within ``errorsWindowSeconds``. A further refusal closes the connection; nil
    /// for no limit.
    public var errorsMax: Int? = 1000
    /// Maximum refusals with `BadDeviceToken` within ``errorsWindowSeconds``; nil for no limit. APNs tolerates fewer of
    /// these refusals than of others.
    public var badDeviceTokensMax: Int? = 200
    public var errorsWindowSeconds = 60
    public var errorsEnd = ConnectionClosing.goAway
    /// Number of short connections that an address may open and close within ``shortConnectionsWindowSeconds`` before
    /// the simulator refuses the address; nil for no limit. A short connection lasts less than the window and has fewer
    /// than ten requests.
    public var shortConnectionsMax: Int? = 3000
    public var shortConnectionsWindowSeconds = 10
    /// The time for which the simulator refuses an address with too many short connections.
    public var refusalSeconds = 30
    /// Maximum idle time of a connection; nil for no limit.
    public var idleSecondsMax: Int?
    public var idleEnd = IdleEnd.goAway
    /// Idle time after which all requests on a connection receive 500 `InternalServerError`, as providers observed; nil
    /// if idle time has no such effect.
    public var staleIdleSeconds: Int?
    /// Whether requests without a provider token are accepted, for load tests.
    public var servesWithoutToken = false

    /// Whether a rule depends on the idle time of a connection.
    var needsIdleTime: Bool { staleIdleSeconds != nil || idleSecondsMax != nil }

    public init() {}
}
