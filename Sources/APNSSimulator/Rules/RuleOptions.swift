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

    public var order = Order.headersFirst
    /// Streams of a connection before its first push with a valid provider token.
    public var gate = ServerStreamGate.Mode.enforce
    /// Streams of a connection after that.
    public var streamsMax = 1000
    public var tokenUpdates = TokenUpdates.lax
    /// Whether a second team-scoped key of the same team may be used on a connection, as when keys are rotated.
    public var allowsTeamKeyRotation = true
    /// Pushes to one device token within a second of the clock before 429 `TooManyRequests`; nil for no limit.
    public var requestsPerDeviceMax: Int?
    /// Broadcasts to one channel within a second of the clock before 429 `TooManyRequests`; nil for no limit.
    public var requestsPerChannelMax: Int?
    /// What is said of a wrong method on the paths of broadcasts and channels: Apple lists `MethodNotAllowed` and
    /// `BadPath` for it.
    public var wrongMethodReason = Reason.methodNotAllowed
    /// Whether a broadcast without `apns-expiration` is refused with `BadExpirationDate`: Apple calls it required, and
    /// leaves it out of a sample.
    public var demandsBroadcastExpiration = false
    /// What is said of a `location` push of a provider that is known by its certificate: these take tokens only.
    public var locationByCertificateReason = Reason.forbidden
    /// Whether `background` with a priority other than 5 is refused with `BadPriority`.
    public var refusesBackgroundAtOtherPriority = true
    /// Whether a body that cannot be a JSON object, or says that it is compressed, is refused with `PayloadEmpty`.
    public var refusesOtherThanJSONObjects = true
    /// How far `iat` may lie in the future before a token is refused with `InvalidProviderToken`, in seconds.
    public var futureTokenSecondsMax = 3600
    /// Whether a push without provider token is served, for load tests of what is behind the token.
    public var servesWithoutToken = false

    public init() {}
}
