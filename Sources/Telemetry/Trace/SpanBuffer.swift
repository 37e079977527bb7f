/// Spans that wait for the exporter. Spans beyond `spansMax` are dropped and counted.
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

    /// Returns the spans and the drop count, and empties the buffer.
    public mutating func take() -> SpanBuffer {
        defer { self = SpanBuffer() }
        return self
    }
}
