/// The queue and the limits of a consumer.
public struct ConsumerConfiguration: Sendable {
    public var queue: String
    /// The largest number of unacknowledged deliveries, 1 to 65,535, which the broker enforces. After a pause,
    /// deliveries from before the pause may exceed the limit by a quarter.
    public var prefetch: Int
    /// The largest body in bytes. Larger bodies are discarded; see `IncomingMessage.isOversized`.
    public var messageBytesMax = 1 << 20
    /// The limit of `Consumer.bodyBytesInFlight`. At this limit, the connection is not read until at most three
    /// quarters of the limit are unsettled.
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
