/// Value of the `apns-priority` header.
public enum Priority: UInt8, CaseIterable, Sendable, Hashable {
    /// The device's power comes first; does not wake it.
    case powerFirst = 1
    /// With regard to the device's power; may be grouped or throttled.
    case considerate = 5
    /// At once. Assumed by APNs when the header is absent.
    case immediate = 10

    /// The priority that these bytes name in decimal; nil for any other bytes.
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
