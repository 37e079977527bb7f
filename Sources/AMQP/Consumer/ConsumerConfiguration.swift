/// The queue and the limits of a consumer.
public struct ConsumerConfiguration: Sendable {
    public var queue: String
    /// The largest number of unacknowledged deliveries, 1 to 65,535. The broker enforces this limit. After a pause, or
    /// after the broker canceled the consumer, earlier deliveries can add up to a quarter of the limit.
    public var prefetch: Int
    /// The largest body in bytes. Larger bodies are discarded. See `IncomingMessage.isOversized`.
    public var messageBytesMax = 1 << 20
    /// The limit of `Consumer.bodyBytesInFlight`. At this limit, the connection is not read until the bytes in
    /// flight fall to three quarters of the limit.
    public var bodyBytesInFlightMax = 64 << 20
    /// The time after which an acknowledgment no longer waits for older deliveries and is sent individually.
    public var acknowledgeDelayMilliseconds = 250

    public init(queue: String, prefetch: Int) {
        self.queue = queue
        self.prefetch = prefetch
    }
}

extension AckWindow {
    init(_ configuration: ConsumerConfiguration) {
        self.init(
            expected: configuration.prefetch, delayMax: .milliseconds(configuration.acknowledgeDelayMilliseconds))
    }
}
