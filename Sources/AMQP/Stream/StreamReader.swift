import EventLoop

/// A reader of one RabbitMQ stream on its own channel. The reader consumes again after the loss of the connection, the
/// channel or the stream. Its handler chooses the position each time.
///
/// If the stream does not exist (404), or the user may not read it (403), the reader reports the refusal as its status
/// and retries until `close`. If the node has no replica of the stream (406), the reader also resets its connection, so
/// that the connection continues with the next host of the broker. A stream accepts any number of readers, and
/// reading removes no message.
///
/// The reader acknowledges each message after the handler has received the message. The broker needs the
/// acknowledgments to deliver more messages. They are collected until the end of an event-loop iteration. The reader
/// keeps no message.
public final class StreamReader: ChannelHandler {
    private let configuration: StreamReaderConfiguration
    private var handler: StreamReaderHandler?
    private var subscription = StreamSubscription()
    /// The number of `basic.consume` methods on all channels. Each method has a new consumer tag, as in `Consumer`.
    private var consumerNumber = 0
    private let retryTimer: DeadlineTimer

    public init(on connection: BrokerConnection, configuration: StreamReaderConfiguration) {
        self.configuration = configuration
        retryTimer = DeadlineTimer(on: connection.loop)
        super.init(
            AMQPChannel(
                on: connection, ChannelOptions(bodyBytesMax: configuration.messageBytesMax),
                ownsConnection: false))
    }

    /// Starts the connection if necessary, and begins to read when the connection is open. Later calls do nothing.
    public func start(_ handler: StreamReaderHandler) {
        self.handler = self.handler ?? handler
        channel.start(self)
    }

    override func opened() {
        handle(.channelOpened)
    }

    override func lost(_ error: AMQPError) {
        handle(.channelLost(error))
        guard error.code == .preconditionFailed else { return }
        loop.later { [connection] in connection.changeHost(error) }
    }

    /// Reads again from a position that the handler chooses. Does nothing unless the reader is attached.
    public func restart() {
        guard subscription.state == .attached else { return }
        channel.renew(AMQPError(.closed, "the reader starts again"))
    }

    override func received(_ method: ServerMethod) -> Bool {
        switch method {
        case .basicQosOK: handle(.prefetchSet)
        case .basicConsumeOK: handle(.consumeAnswered)
        case .basicCancel:
            handle(
                .endedByBroker(
                    AMQPError(.consumerCancelled, "the broker ended the reader of stream \(configuration.stream)")))
        default: false
        }
    }

    override func received(_ delivery: ServerMethod.Delivery) -> Bool {
        subscription.delivered(delivery.tag)
    }

    override func received(_ content: consuming MessageContent) -> Bool {
        guard let message = StreamMessage(content) else {
            // The queue is not a stream. Without acknowledgments, its messages return to it.
            channel.abandon(
                AMQPError(
                    .protocolViolation, "the broker sent a message of \(configuration.stream) without a stream offset",
                    isRetriable: false))
            return true
        }
        if subscription.contentReceived() { handler?.received(message) }
        channel.flushAfterIteration()
        return true
    }

    override func flush(isLast: Bool) {
        if isLast { retryTimer.cancel() }
        if let ack = subscription.acknowledgment() { channel.acknowledge(ack.tag, multiple: ack.multiple) }
    }

    override func statusChanged(_ status: BrokerStatus) {
        handler?.statusChanged(status)
        // The handler usually retains the owner of this reader, which would be a reference cycle.
        if status == .closed { handler = nil }
    }

    /// Updates the state after an event. Returns false if the event violates the protocol.
    @discardableResult
    private func handle(_ event: StreamSubscription.Event) -> Bool {
        guard let actions = subscription.handle(event) else { return false }
        for action in actions { perform(action) }
        return true
    }

    private func perform(_ action: StreamSubscription.Action) {
        switch action {
        case .setPrefetch:
            channel.send(.basicQos(prefetch: UInt16(min(max(1, configuration.prefetch), Int(UInt16.max)))))
        case .consume: consume()
        case .completeSetup: channel.setupCompleted()
        case .reportAttached: handler?.attached()
        case .reportDetached(let reason): handler?.detached(reason)
        case .interrupt(let error): interrupt(error)
        case .cancelRetry: retryTimer.cancel()
        }
    }

    private func consume() {
        guard let handler else { return }
        consumerNumber += 1
        channel.expectAnswer()
        let consume = ClientMethod.basicConsume(
            queue: configuration.stream, consumerTag: "martlet-\(consumerNumber)",
            arguments: [StreamMessage.offsetHeader: handler.position().argument])
        if !channel.send(consume) {
            channel.abandon(
                AMQPError(.preconditionFailed, "the stream's name is longer than 255 bytes", isRetriable: false))
        }
    }

    private func interrupt(_ error: AMQPError) {
        channel.answered()
        guard let retryAt = channel.interrupted(error), !connection.isClosing else { return }
        retryTimer.arm(at: retryAt, for: self) { $0.handle(.retryDue) }
    }
}
