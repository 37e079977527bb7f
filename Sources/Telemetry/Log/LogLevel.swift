/// How much a log line matters, from the least to the most.
public enum LogLevel: UInt8, Sendable, Comparable, CaseIterable, CustomStringConvertible {
    /// For whoever looks for a fault in Martlet itself.
    case debug
    /// The normal course of things, a few lines an hour.
    case info
    /// Something failed and Martlet goes on by itself.
    case warning
    /// Somebody has to do something.
    case error

    public static func < (left: LogLevel, right: LogLevel) -> Bool { left.rawValue < right.rawValue }

    /// The word in log lines and in the configuration.
    public var description: String {
        switch self {
        case .debug: "debug"
        case .info: "info"
        case .warning: "warning"
        case .error: "error"
        }
    }

    /// The level that `word` names; nil when it names none.
    public init?(_ word: String) {
        guard let level = Self.allCases.first(where: { $0.description == word }) else { return nil }
        self = level
    }
}
