/// What Apple does not say, or says in two ways: switches, with the default that practice suggests.
public struct RuleOptions: Sendable {
    /// What is looked at first when several things are wrong with a request.
    public enum Order: String, CaseIterable, Sendable {
        /// The headers' form, then path and device token, then the provider token (as pushy's mock server does).
        case headersFirst = "headers-first"
        /// The provider token before everything but method and path.
        case authenticationFirst = "authentication-first"
    }

    public var order = Order.headersFirst
    /// Whether `background` with a priority other than 5 is refused with `BadPriority`.
    public var refusesBackgroundAtOtherPriority = true
    /// Whether a body that cannot be a JSON object, or says that it is compressed, is refused with `PayloadEmpty`.
    public var refusesOtherThanJSONObjects = true
    /// How far `iat` may lie in the future before a token is refused with `InvalidProviderToken`, in seconds.
    public var futureTokenSecondsMax: Int64 = 3600
    /// Whether a push without provider token is served, for load tests of what is behind the token.
    public var servesWithoutToken = false

    public init() {}
}
