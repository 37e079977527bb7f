/// The operating system of a device.
public enum DevicePlatform: String, CaseIterable, Sendable, Hashable {
    case ios
    case ipados
    case macos
    case tvos
    case watchos
    case visionos

    /// Creates the platform with this number in a store; nil if no platform has the number.
    public init?(number: Int) {
        guard let platform = Self.allCases.first(where: { $0.number == number }) else { return nil }
        self = platform
    }

    /// The number of the platform in a store. It never changes.
    public var number: Int {
        switch self {
        case .ios: 0
        case .ipados: 1
        case .macos: 2
        case .tvos: 3
        case .watchos: 4
        case .visionos: 5
        }
    }
}
