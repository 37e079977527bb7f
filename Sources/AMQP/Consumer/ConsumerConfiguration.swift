/// What a consumer takes, and how much of it at once.
public struct ConsumerConfiguration: Sendable {
    public var queue: String
    /// Deliveries that may be unsettled at the same time, 1 to 65,535: the broker sends no more.
    public var prefetch: Int
    /// Larger bodies are not kept; see `IncomingMessage.isOversized`.
    public var messageBytesMax = 1 << 20
    /// Bytes of bodies and properties that are not settled yet. At this many the connection is not read until some are.
    public var bodyBytesInFlightMax = 64 << 20
    /// An acknowledgement that waits for older deliveries leaves by itself after so long.
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
