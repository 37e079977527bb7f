public import APNSProtocol

/// A registered device token.
public struct Device: Sendable {
    /// The token, in hexadecimal digits in lower case.
    public var token: [UInt8]
    /// The bundle ID of the app that registered the token.
    public var bundleID: String
    /// The environment in which the token is valid; nil for both. No real token is valid in both, but nil lets one
    /// device list serve both.
    public var environment: APNSEnvironment?
    public var condition: DeviceCondition

    /// - Parameter token: hexadecimal digits of either case. The initializer does not validate the token; see
    ///   `DeviceToken.isWellFormed`.
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
    /// Status 410 `Unregistered` since this time, in milliseconds since 1970.
    case unregistered(sinceMilliseconds: Int64)
    /// Status 410 `ExpiredToken` since this time, in milliseconds since 1970, as for an ended Live Activity.
    case expired(sinceMilliseconds: Int64)
    /// Status 400 `BadDeviceToken`, as for a token that never existed.
    case bad
    /// Status 400 `DeviceTokenNotForTopic`.
    case notForTopic
}

/// The state of unregistered device tokens with a prefix.
public struct DeviceRule: Sendable {
    /// The prefix, in hexadecimal digits in lower case; empty for all tokens.
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

/// Returns the lower case of an ASCII letter. Returns other bytes unchanged.
func lowercased(_ byte: UInt8) -> UInt8 {
    UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte ? byte | 0x20 : byte
}
