/// Spans that wait to be handed over; what does not fit is dropped and counted.
public struct SpanBuffer: Sendable {
    public static let spansMax = 4096

    public private(set) var spans: [Span] = []
    public private(set) var dropped = 0

    public init() {}

    public mutating func add(_ new: [Span]) {
        guard spans.count + new.count <= Self.spansMax else {
            dropped += new.count
            return
        }
        spans += new
    }

    /// All that waits.
    public mutating func take() -> [Span] {
        defer { spans = [] }
        return spans
    }
}
