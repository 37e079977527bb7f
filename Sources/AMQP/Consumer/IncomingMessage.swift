/// One delivery of a message by the broker. It must be acknowledged, rejected or requeued exactly once.
public struct IncomingMessage: Sendable {
    public let tag: DeliveryTag
    /// The queue that it came from.
    public let queue: String
    /// The broker has delivered it before, to this worker or another.
    public let isRedelivered: Bool
    package let content: MessageContent

    package init(tag: DeliveryTag, queue: String, isRedelivered: Bool, content: consuming MessageContent) {
        self.tag = tag
        self.queue = queue
        self.isRedelivered = isRedelivered
        self.content = content
    }

    /// A copy; empty when `isOversized`.
    public var body: [UInt8] { Array(content.body) }
    /// The size of the body in bytes, as the publisher sent it.
    public var bodySize: UInt64 { content.bodySize }
    /// The body exceeds `messageBytesMax` and was not kept.
    public var isOversized: Bool { content.isOversized }

    /// How often it was delivered in vain, as a quorum queue counts it (`x-delivery-count`); 0 where nobody counts.
    public var deliveryCount: Int {
        // The queue writes the header with the flag, so that most messages are not searched.
        guard isRedelivered, let count = properties.header("x-delivery-count")?.integerValue else { return 0 }
        return Int(clamping: max(0, count))
    }

    public var exchange: String { content.exchange }
    public var routingKey: String { content.routingKey }
    public var properties: MessageProperties { content.properties }
}

/// Names a delivery to its consumer. One from a channel that is gone is known as such and ignored.
public struct DeliveryTag: Sendable, Hashable {
    /// The broker's number of the delivery, counted from 1 on each channel.
    package var number: UInt64
    /// Which of the consumer's channels it came on.
    package var generation: UInt32
    /// The bytes in flight that are given back when the delivery is settled.
    package var bytes: UInt32

    package init(number: UInt64, generation: UInt32, bytes: UInt32) {
        self.number = number
        self.generation = generation
        self.bytes = bytes
    }
}
