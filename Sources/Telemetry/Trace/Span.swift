/// One completed step of a trace.
public struct Span: Sendable, Hashable {
    /// The kind of a span. The raw values are the numbers of OTLP.
    public enum Kind: Int, Sendable {
        /// A step within the worker.
        case `internal` = 1
        /// A request to another service.
        case client = 3
        /// Consumption of a delivery.
        case consumer = 5
    }

    public enum Value: Sendable, Hashable {
        case text(String)
        case integer(Int)
    }

    public struct Attribute: Sendable, Hashable {
        public var key: String
        public var value: Value

        public init(key: String, value: Value) {
            self.key = key
            self.value = value
        }
    }

    public var name: String
    public var kind: Kind
    /// The trace ID, the span ID and the sampling decision.
    public var context: TraceContext
    public var parentSpanID: UInt64
    public var startUnixNanoseconds: Int64
    public var endUnixNanoseconds: Int64
    public private(set) var attributes: [Attribute] = []
    /// The reason for a failure; nil on success.
    public var failure: String?

    public init(
        _ name: String, _ kind: Kind, in context: TraceContext, below parentSpanID: UInt64,
        from startUnixNanoseconds: Int64, to endUnixNanoseconds: Int64
    ) {
        self.name = name
        self.kind = kind
        self.context = context
        self.parentSpanID = parentSpanID
        self.startUnixNanoseconds = startUnixNanoseconds
        self.endUnixNanoseconds = max(startUnixNanoseconds, endUnixNanoseconds)
    }

    public mutating func set(_ key: String, _ text: String?) {
        if let text { attributes.append(Attribute(key: key, value: .text(text))) }
    }

    public mutating func set(_ key: String, _ number: Int?) {
        if let number { attributes.append(Attribute(key: key, value: .integer(number))) }
    }
}
