/// One delivery of a message by the broker. A delivery to a `Consumer` must be acknowledged, rejected or requeued
/// exactly once. A message from `BrokerAdmin.get` counts as acknowledged.
public struct IncomingMessage: Sendable {
    public let tag: DeliveryTag
    /// The queue from which the message was delivered.
    public let queue: String
    /// Whether the broker delivered the message before, to this worker or another.
    public let isRedelivered: Bool
    package let content: MessageContent

    package init(tag: DeliveryTag, queue: String, isRedelivered: Bool, content: consuming MessageContent) {
        self.tag = tag
        self.queue = queue
        self.isRedelivered = isRedelivered
        self.content = content
    }

    /// Returns the delivery with another body. See `MessageContent.replacingBody(bytesReserved:_:)`.
    package func replacingBody(bytesReserved: Int, _ appendBody: (inout [UInt8]) -> Void) -> IncomingMessage {
        IncomingMessage(
            tag: tag, queue: queue, isRedelivered: isRedelivered,
            content: content.replacingBody(bytesReserved: bytesReserved, appendBody))
    }

    /// A copy of the body; empty if `isOversized`.
    public var body: [UInt8] { Array(content.body) }
    /// The size of the body in bytes, as the publisher sent it.
    public var bodySize: UInt64 { content.bodySize }
    /// Whether the body exceeds `messageBytesMax` and was discarded.
    public var isOversized: Bool { content.isOversized }

    /// The number of failed deliveries that a quorum queue counted (`x-delivery-count`); 0 if the queue does not count.
    public var deliveryCount: Int {
        // The queue sets the header only with the redelivered flag. Most messages need no search.
        guard isRedelivered, let count = properties.header("x-delivery-count")?.integerValue else { return 0 }
        return Int(clamping: max(0, count))
    }

    public var exchange: String { content.exchange }
    public var routingKey: String { content.routingKey }
    public var properties: MessageProperties { content.properties }
}

/// The identity of a delivery at its consumer. The consumer sends no settlement for a tag from a lost channel.
public struct DeliveryTag: Sendable, Hashable {
    /// The broker's number of the delivery, counted from 1 on each channel.
    package var number: UInt64
    /// The generation of the consumer's channel on which the delivery arrived.
    package var generation: UInt32
    /// The bytes in flight that are released when the delivery is settled.
    package var bytes: UInt32

    package init(number: UInt64, generation: UInt32, bytes: UInt32) {
        self.number = number
        self.generation = generation
        self.bytes = bytes
    }
}
