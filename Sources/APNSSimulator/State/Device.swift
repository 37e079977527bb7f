public import APNSProtocol

/// A device token that APNs has given out.
public struct Device: Sendable {
    /// Lower case hexadecimal.
    public var token: [UInt8]
    /// The app that registered it.
    public var bundleID: String
    /// Where it was registered; nil: it is good in both, as none of Apple's is, for lists that serve either.
    public var environment: APNSEnvironment?
    public var condition: DeviceCondition

    /// - Parameter token: hexadecimal of either case; whether it is well-formed is for `DeviceToken.isWellFormed`.
    public init(
        token: String, bundleID: String, environment: APNSEnvironment? = nil, condition: DeviceCondition = .active
    ) {
        self.token = token.utf8.map(lowercased)
        self.bundleID = bundleID
        self.environment = environment
        self.condition = condition
    }
}

/// What APNs says of pushes to a device token.
public enum DeviceCondition: Sendable, Hashable {
    case active
    /// 410 `Unregistered`; found at this time, in milliseconds since 1970.
    case unregistered(sinceMilliseconds: Int64)
    /// 410 `ExpiredToken`, as for an ended Live Activity.
    case expired(sinceMilliseconds: Int64)
    /// 400 `BadDeviceToken`, as for a token that never was.
    case bad
    /// 400 `DeviceTokenNotForTopic`.
    case notForTopic
}

/// What is said of device tokens that nobody registered, by how they begin.
public struct DeviceRule: Sendable {
    /// Lower case hexadecimal; empty for all tokens.
    public var prefix: [UInt8]
    public var condition: DeviceCondition

    public init(prefix: String, condition: DeviceCondition) {
        self.prefix = prefix.utf8.map(lowercased)
        self.condition = condition
    }

    func covers(_ token: UnsafeRawBufferPointer) -> Bool {
        token.count >= prefix.count && zip(prefix, token).allSatisfy { $0 == lowercased($1) }
    }
}

/// An ASCII letter's lower case; other bytes as they are.
func lowercased(_ byte: UInt8) -> UInt8 {
    UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte ? byte | 0x20 : byte
}
