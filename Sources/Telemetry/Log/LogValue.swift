/// What stands beside a key in a log line.
public enum LogValue: Sendable, Equatable {
    case string(String)
    case integer(Int)
    case number(Double)
    case boolean(Bool)

    /// Whatever describes itself: an error, an endpoint, a `ShortToken`.
    public static func describing(_ value: some CustomStringConvertible) -> LogValue { .string(value.description) }

    /// Whole ones.
    public static func milliseconds(_ duration: Duration) -> LogValue { .integer(Int(duration / .milliseconds(1))) }
}

extension LogValue: ExpressibleByStringInterpolation, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral {
    public init(stringLiteral value: String) { self = .string(value) }
    public init(integerLiteral value: Int) { self = .integer(value) }
    public init(booleanLiteral value: Bool) { self = .boolean(value) }
}
