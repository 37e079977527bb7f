/// One message of a stream. The reader acknowledges the message, which stays in the stream.
public struct StreamMessage: Sendable {
    /// The header that the broker adds to each delivery from a stream.
    static let offsetHeader = "x-stream-offset"

    /// The position of the message in its stream. Later messages have higher offsets.
    public let offset: Int64
    package let content: MessageContent

    /// Creates the message of a delivery. Returns nil if the delivery has no valid offset.
    init?(_ content: consuming MessageContent) {
        guard let offset = content.properties.header(Self.offsetHeader)?.integerValue, offset >= 0 else { return nil }
        self.offset = offset
        self.content = content
    }

    /// A copy of the body; empty if `isOversized`.
    public var body: [UInt8] { Array(content.body) }
    /// The size of the body in bytes, as the publisher sent it.
    public var bodySize: UInt64 { content.bodySize }
    /// Whether the body exceeds `messageBytesMax` and was discarded.
    public var isOversized: Bool { content.isOversized }
    /// The exchange to which the message was published. A reader can compare it with the exchange of the stream's
    /// owner. A user that may publish to another exchange, such as the default exchange, can also put messages into the
    /// stream.
    public var exchange: String { content.exchange }
    public var routingKey: String { content.routingKey }
    public var properties: MessageProperties { content.properties }
}
