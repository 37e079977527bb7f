public import APNSProtocol

/// A registered device token.
public struct Device: Sendable {
    /// Hexadecimal digits in lower case.
    public var token: [UInt8]
    /// The bundle ID of the app that registered the token.
    public var bundleID: String
    /// The environment in which the token is valid. nil: both, which no real token is; for device lists that serve
    /// both.
    public var environment: APNSEnvironment?
    public var condition: DeviceCondition

    /// - Parameter token: hexadecimal digits of either case. Not validated; see `DeviceToken.isWellFormed`.
    public init(
        token: String, bundleID: String, environment: APNSEnvironment? = nil, condition: DeviceCondition = .active
    ) {
        self.token = token.utf8.map(lowercased)
        self.bundleID = bundleID
        self.environment = environment
        self.condition = condition
    }
}

/// The state of a device token, which determines the answer to its pushes.
public enum DeviceCondition: Sendable, Hashable {
    case active
    /// 410 `Unregistered` since this time, in milliseconds since 1970.
    case unregistered(sinceMilliseconds: Int64)
    /// 410 `ExpiredToken` since this time, as for an ended Live Activity.
    case expired(sinceMilliseconds: Int64)
    /// 400 `BadDeviceToken`, as for a token that never existed.
    case bad
    /// 400 `DeviceTokenNotForTopic`.
    case notForTopic
}

/// The state of unregistered device tokens with a prefix.
public struct DeviceRule: Sendable {
    /// Hexadecimal digits in lower case; empty for all tokens.
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

/// Returns the lower case of an ASCII letter; other bytes unchanged.
func lowercased(_ byte: UInt8) -> UInt8 {
    UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte ? byte | 0x20 : byte
}
