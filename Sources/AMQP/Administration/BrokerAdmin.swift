public import EventLoop

/// A client that manages exchanges, queues and bindings.
///
/// A refused operation throws and does not affect later operations. Operations in flight at the time of the refusal
/// fail with the same error. Operations wait for the connection.
public final class BrokerAdmin: ChannelHandler {
    enum Reply {
        case done
        case queue(QueueStatus)
        case count(Int)
        case message(IncomingMessage?)
    }

    private struct Call {
        var continuation: UnsafeContinuation<Result<Reply, AMQPError>, Never>
        /// The queue of `get`; otherwise empty.
        var queue: String
    }

    /// The largest body that `get` returns, in bytes.
    private static let messageBytesMax = 16 << 20

    private let deadlineSeconds: Int
    private var handler: SessionHandler?
    private var pending = FIFO<Call>()
    private var arriving = (tag: UInt64(0), isRedelivered: false)

    /// Creates an instance that uses an existing connection.
    ///
    /// - Parameter deadlineSeconds: the timeout of an operation. The timeout applies first to the wait for the
    ///   connection, and then again to the wait for the broker's answer.
    public convenience init(on connection: BrokerConnection, deadlineSeconds: Int = 15) {
        self.init(on: connection, deadlineSeconds: deadlineSeconds, ownsConnection: false)
    }

    /// Creates an instance with its own connection, which `start` opens and `close` closes.
    public convenience init(
        loop: EventLoop, connectors: [ByteConnector], connection: ConnectionConfiguration, deadlineSeconds: Int = 15
    ) {
        self.init(
            on: BrokerConnection(loop: loop, connectors: connectors, configuration: connection),
            deadlineSeconds: deadlineSeconds, ownsConnection: true)
    }

    private init(on connection: BrokerConnection, deadlineSeconds: Int, ownsConnection: Bool) {
        self.deadlineSeconds = deadlineSeconds
        let options = ChannelOptions(bodyBytesMax: Self.messageBytesMax, reopensImmediately: true)
        super.init(AMQPChannel(on: connection, options, ownsConnection: ownsConnection))
    }

    /// Starts the connection if necessary, and opens the channel once the connection is open. A later call only sets
    /// the handler, if none is set.
    public func start(_ handler: SessionHandler? = nil) {
        self.handler = self.handler ?? handler
        channel.start(self)
    }

    /// The error for a reply that the operation does not expect.
    static let wrongReply = AMQPError(.protocolViolation, "the broker sent an unexpected reply")

    /// Sends a method once the channel is ready, and returns the broker's reply.
    ///
    /// - Parameter queue: the queue of `basic.get`; empty for other methods.
    func call(_ method: ClientMethod, _ queue: String = "") async throws(AMQPError) -> Reply {
        try await waitUntilReady(deadlineSeconds: deadlineSeconds)
        guard channel.isUsable else { throw AMQPError(.connectionLost, "the connection to the broker is not open") }
        guard channel.send(method) else {
            throw AMQPError(
                .preconditionFailed, "a name is longer than 255 bytes, or the arguments do not fit into one frame",
                isRetriable: false)
        }
        let timer = loop.schedule(after: .seconds(deadlineSeconds)) { [self] in
            channel.abandon(AMQPError(.timedOut, "the broker did not answer within \(deadlineSeconds) s"))
        }
        defer { loop.cancel(timer) }
        return try await withUnsafeContinuation { pending.append(Call(continuation: $0, queue: queue)) }.get()
    }

    private func answer(_ reply: Reply) {
        pending.popFirst()?.continuation.resume(returning: .success(reply))
    }

    override func opened() {
        channel.setupCompleted()
    }

    override func lost(_ error: AMQPError) {
        while let call = pending.popFirst() { call.continuation.resume(returning: .failure(error)) }
    }

    override func received(_ method: ServerMethod) -> Bool {
        guard !pending.isEmpty else { return false }
        switch method {
        case .exchangeDeclareOK, .exchangeBindOK, .exchangeUnbindOK, .exchangeDeleteOK, .queueBindOK, .queueUnbindOK:
            answer(.done)
        case .basicConsumeOK:
            // `mayConsume` expects a refusal, and no caller handles deliveries. Deliveries return to the queue when the
            // channel closes.
            answer(.done)
            channel.abandon(AMQPError(.closed, "the broker accepted a consumer that it should have refused"))
        case .queueDeclareOK(let queue):
            answer(
                .queue(
                    QueueStatus(
                        name: String(wire: queue.name), messages: Int(queue.messageCount),
                        consumers: Int(queue.consumerCount))))
        case .queueDeleteOK(let messageCount), .queuePurgeOK(let messageCount): answer(.count(Int(messageCount)))
        case .basicGetEmpty: answer(.message(nil))
        case .basicGetOK(let delivery): arriving = (delivery.tag, delivery.isRedelivered)
        default: return false
        }
        return true
    }

    override func received(_ content: consuming MessageContent) -> Bool {
        let message = IncomingMessage(
            tag: DeliveryTag(number: arriving.tag, generation: 0, bytes: 0), queue: pending.first?.queue ?? "",
            isRedelivered: arriving.isRedelivered, content: content)
        answer(.message(message))
        return true
    }

    override func statusChanged(_ status: BrokerStatus) {
        handler?.statusChanged(status)
        // The handler usually retains the owner of this object, which would be a reference cycle.
        if status == .closed { handler = nil }
    }
}
