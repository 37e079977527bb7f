/// Value of the `apns-priority` header.
public enum Priority: UInt8, CaseIterable, Sendable, Hashable {
    /// A push for which the device's power has precedence over prompt arrival. The push does not wake the device.
    case powerFirst = 1
    /// A push that considers the device's power. APNs may group or throttle such pushes.
    case considerate = 5
    /// Immediate delivery, the default of APNs if the header is absent.
    case immediate = 10

    /// Parses a priority in decimal digits. Returns nil for any other text.
    public init?(_ bytes: UnsafeRawBufferPointer) {
        for priority in Self.allCases where bytes.equals(priority.wireText) {
            self = priority
            return
        }
        return nil
    }

    /// The header's value.
    public var wireText: StaticString {
        switch self {
        case .powerFirst: "1"
        case .considerate: "5"
        case .immediate: "10"
        }
    }
}
