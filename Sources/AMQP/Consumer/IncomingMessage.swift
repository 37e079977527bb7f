/// One delivery of a message by the broker. It must be acknowledged, rejected or requeued exactly once.
///
/// Besides the body it holds one array with all else that came with it, read when it is asked for.
public struct IncomingMessage: Sendable {
    public let tag: DeliveryTag
    /// The queue that it came from.
    public let queue: String
    /// The broker has delivered it before, to this worker or another.
    public let isRedelivered: Bool
    /// Empty when `isOversized`.
    public let body: [UInt8]
    /// The size of the body in bytes, as the publisher sent it.
    public let bodySize: UInt64
    /// The body exceeds `messageBytesMax` and was not kept.
    public let isOversized: Bool

    /// Exchange, routing key and property list, one after the other.
    private let envelope: [UInt8]
    private let exchangeEnd: Int
    private let routingKeyEnd: Int

    package init(
        tag: DeliveryTag, queue: String, isRedelivered: Bool, body: [UInt8], bodySize: UInt64, isOversized: Bool,
        envelope: [UInt8], exchangeEnd: Int, routingKeyEnd: Int
    ) {
        self.tag = tag
        self.queue = queue
        self.isRedelivered = isRedelivered
        self.body = body
        self.bodySize = bodySize
        self.isOversized = isOversized
        self.envelope = envelope
        self.exchangeEnd = exchangeEnd
        self.routingKeyEnd = routingKeyEnd
    }

    /// How often it was delivered in vain, as a quorum queue counts it (`x-delivery-count`); 0 where nobody counts.
    public var deliveryCount: Int {
        // The queue writes the header with the flag, so that most messages are not searched.
        guard isRedelivered, let count = properties.header("x-delivery-count")?.integerValue else { return 0 }
        return Int(clamping: max(0, count))
    }

    public var exchange: String { String(decoding: envelope[..<exchangeEnd], as: UTF8.self) }
    public var routingKey: String { String(decoding: envelope[exchangeEnd..<routingKeyEnd], as: UTF8.self) }
    public var properties: MessageProperties { MessageProperties(storage: envelope, start: routingKeyEnd) }
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
