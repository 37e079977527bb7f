/// The severity of a log line, in ascending order.
public enum LogLevel: UInt8, Sendable, Comparable, CaseIterable, CustomStringConvertible {
    /// Details for debugging Martlet itself.
    case debug
    /// Normal operation, with a summary each minute, and few other lines.
    case info
    /// A problem in spite of which Martlet continues, such as a lost broker connection or an expiring certificate.
    case warning
    /// A failure that needs an operator.
    case error

    public static func < (left: LogLevel, right: LogLevel) -> Bool { left.rawValue < right.rawValue }

    /// The name in log lines and in the configuration.
    public var description: String {
        switch self {
        case .debug: "debug"
        case .info: "info"
        case .warning: "warning"
        case .error: "error"
        }
    }

    /// Creates the level with this name. Returns nil if no level has the name.
    public init?(_ word: String) {
        guard let level = Self.allCases.first(where: { $0.description == word }) else { return nil }
        self = level
    }
}
