public import APNSProtocol

/// Something that goes wrong on purpose: for which requests or connections, what, and how often.
public struct Fault: Sendable, Hashable {
    /// What a fault waits for.
    public enum Trigger: String, CaseIterable, Sendable {
        /// A request that has arrived whole.
        case request
        /// A connection that is accepted.
        case connection
    }

    /// Bytes of an id: letters, digits, full stops, hyphens and underscores, so that it can stand in a URL.
    public static let idBytesMax = 64

    /// Names it among the faults in force, in the log and in the counters.
    public var id: String
    public var trigger: Trigger
    public var match: FaultMatch
    public var action: FaultAction
    /// The part of what matches that it strikes, from 0 to 1; which ones follows from the seed.
    public var share: Double
    /// How many of what matches it lets through at first.
    public var skipCount: Int
    /// How often it strikes at most; nil for no limit.
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

/// Which requests or connections a fault is for: those for which all that is said here holds.
public struct FaultMatch: Sendable, Hashable {
    public var environment: APNSEnvironment?
    public var service: Service.Kind?
    /// The whole of `apns-topic`; for broadcasts and channels, the bundle ID in the path.
    public var topic: String?
    /// How the device token begins, in hexadecimal of either case.
    public var devicePrefix: String?
    public var pushType: PushType?
    /// A connection's number.
    public var connection: Int?
    /// The connection had no request for at least so long before this one.
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

    /// Whether it looks at what only requests have.
    var looksAtRequests: Bool { topic != nil || devicePrefix != nil || pushType != nil || idleSecondsMin != nil }
}
