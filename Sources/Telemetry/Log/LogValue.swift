/// The value of a key in a log line.
public enum LogValue: Sendable, Equatable {
    case string(String)
    case integer(Int)
    case number(Double)
    case boolean(Bool)

    /// Returns the description of an error, an endpoint, a `ShortToken` or another value.
    public static func describing(_ value: some CustomStringConvertible) -> LogValue { .string(value.description) }

    /// Returns the duration in milliseconds, rounded toward zero.
    public static func milliseconds(_ duration: Duration) -> LogValue { .integer(Int(duration / .milliseconds(1))) }
}

extension LogValue: ExpressibleByStringInterpolation, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral {
    public init(stringLiteral value: String) { self = .string(value) }
    public init(integerLiteral value: Int) { self = .integer(value) }
    public init(booleanLiteral value: Bool) { self = .boolean(value) }
}
