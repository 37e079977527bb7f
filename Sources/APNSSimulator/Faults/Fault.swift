public import APNSProtocol

/// An injected fault: the requests or connections that it applies to, its action, and how often it applies.
public struct Fault: Sendable, Hashable {
    /// The event that a fault applies to.
    public enum Trigger: String, CaseIterable, Sendable {
        /// A complete request.
        case request
        /// A newly accepted connection.
        case connection
    }

    /// Maximum bytes of an ID. An ID contains letters, digits, periods, hyphens and underscores, which are valid in
    /// a URL.
    public static let idBytesMax = 64

    /// Identifier of the fault among the faults in force and in the request log.
    public var id: String
    public var trigger: Trigger
    public var match: FaultMatch
    public var action: FaultAction
    /// The fraction of the matching requests or connections that the fault applies to, from 0 to 1. The seed
    /// determines the selection.
    public var share: Double
    /// Number of matching requests or connections that the fault skips first.
    public var skipCount: Int
    /// Maximum number of times that the fault applies; nil for no limit.
    public var countMax: Int?

    public init(
        id: String, trigger: Trigger = .request, match: FaultMatch = FaultMatch(), action: FaultAction,
        share: Double = 1, skipCount: Int = 0, countMax: Int? = nil
    ) {
        self.id = id
        self.trigger = trigger
        self.match = match
        self.action = action
        self.share = share
        self.skipCount = skipCount
        self.countMax = countMax
    }
}

/// The conditions for a fault. All conditions that are not nil must be met.
public struct FaultMatch: Sendable, Hashable {
    public var environment: APNSEnvironment?
    public var service: Service.Kind?
    /// The complete `apns-topic`. Without the header: the bundle ID in the path of a broadcast or channel request,
    /// otherwise the only topic of the client's certificate.
    public var topic: String?
    /// The start of the device token, in hexadecimal digits of either case.
    public var devicePrefix: String?
    public var pushType: PushType?
    /// Number of the connection.
    public var connection: Int?
    /// Minimum time without streams on the connection before the request's stream, in seconds.
    public var idleSecondsMin: Int?

    public init(
        environment: APNSEnvironment? = nil, service: Service.Kind? = nil, topic: String? = nil,
        devicePrefix: String? = nil, pushType: PushType? = nil, connection: Int? = nil, idleSecondsMin: Int? = nil
    ) {
        self.environment = environment
        self.service = service
        self.topic = topic
        self.devicePrefix = devicePrefix
        self.pushType = pushType
        self.connection = connection
        self.idleSecondsMin = idleSecondsMin
    }

    /// Whether a condition concerns a property that only requests have.
    var needsRequest: Bool { topic != nil || devicePrefix != nil || pushType != nil || idleSecondsMin != nil }
}
