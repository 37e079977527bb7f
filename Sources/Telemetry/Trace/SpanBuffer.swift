/// Spans that wait to be handed over; what does not fit is dropped and counted.
public struct SpanBuffer: Sendable {
    public static let spansMax = 4096

    public private(set) var spans: [Span] = []
    public private(set) var dropped = 0

    public init() {}

    public mutating func add(_ new: [Span]) {
        let fitting = new.prefix(Self.spansMax - spans.count)
        spans += fitting
        dropped += new.count - fitting.count
    }

    /// All that waits, and how many were dropped; it begins anew.
    public mutating func take() -> SpanBuffer {
        defer { self = SpanBuffer() }
        return self
    }
}
