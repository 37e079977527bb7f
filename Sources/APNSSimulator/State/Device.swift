public import APNSProtocol

/// A registered device token.
public struct Device: Sendable {
    /// The token, in hexadecimal digits in lower case.
    public var token: [UInt8]
    /// The bundle ID of the app that registered the token.
    public var bundleID: String
    /// The environment in which the token is valid; nil for both. No real token is valid in both, but with nil, one
    /// list of devices can serve both environments.
    public var environment: APNSEnvironment?
    public var condition: DeviceCondition

    /// Creates a device.
    ///
    /// - Parameter token: hexadecimal digits of either case. The initializer does not validate the token. See
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
    /// Unregistered since this time, in milliseconds since 1970. The answer is 410 `Unregistered`.
    case unregistered(sinceMilliseconds: Int64)
    /// Expired since this time, in milliseconds since 1970, as after the end of a Live Activity. The answer is 410
    /// `ExpiredToken`.
    case expired(sinceMilliseconds: Int64)
    /// Bad, for example because the token never existed. The answer is 400 `BadDeviceToken`.
    case bad
    /// Valid for other topics only. The answer is 400 `DeviceTokenNotForTopic`.
    case notForTopic
}

/// A rule for device tokens that begin with a prefix and do not belong to a registered device.
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

/// Returns an ASCII letter in lower case, and other bytes unchanged.
func lowercased(_ byte: UInt8) -> UInt8 {
    UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte ? byte | 0x20 : byte
}
