public import EventLoop

/// A publisher of persistent messages, which reports the outcome of each message.
///
/// The channel reopens after its own loss and after a loss of the connection. Messages that are published in the
/// meantime wait.
///
/// A publisher may also receive direct replies (https://www.rabbitmq.com/docs/direct-reply-to). Direct replies need no
/// queue and no permission.
public final class Publisher: ChannelHandler {
    /// The outcome of a message whose receiver has not been notified yet.
    private struct Completion {
        var receiver: Unmanaged<PublishReceiver>
        var outcome: PublishOutcome
    }

    /// The property `reply-to` of a message whose reply the publisher receives.
    public static let directReplyTo = "amq.rabbitmq.reply-to"

    private let configuration: PublisherConfiguration
    private var handler: SessionHandler?
    /// The receiver of direct replies; nil if the publisher receives none.
    private var replyHandler: ConsumerHandler?
    /// Whether the arriving content is a reply. Otherwise the content is a returned message.
    private var isReplyArriving = false
    /// The unconfirmed publishes. The window retains each receiver once, until the receiver is notified.
    private var window: ConfirmWindow<Unmanaged<PublishReceiver>>
    private var queue = PublishQueue()
    private var completions = FIFO<Completion>()
    private var isNotifying = false
    private var returning = (code: UInt16(0), text: "")
    private let timer: DeadlineTimer
    /// The time at which the broker last confirmed or refused a message, or began to accept messages. While the broker
    /// accepts no messages, such as during an alarm, no confirm is due.
    private var answeredAt: MonotonicTime
    /// The time at which the broker began to accept messages.
    private var readyAt: MonotonicTime
    /// The time of the first refusal since the last confirm; nil if the broker has refused no message on this channel
    /// since then.
    private var refusedSince: MonotonicTime?
    /// The number of channels opened because of refusals since the last confirm.
    private var renewals = 0
    /// The user ID that messages carry. nil if `ConnectionConfiguration.userID` is nil, or if the broker refused the
    /// user ID because the connection has another user at the broker.
    public private(set) var userID: String?

    public convenience init(
        on connection: BrokerConnection, configuration: PublisherConfiguration = PublisherConfiguration()
    ) {
        self.init(on: connection, configuration: configuration, ownsConnection: false)
    }

    /// Creates a publisher with its own connection, which `start` opens and `close` closes.
    public convenience init(
        loop: EventLoop, connectors: [ByteConnector], connection: ConnectionConfiguration,
        configuration: PublisherConfiguration = PublisherConfiguration()
    ) {
        self.init(
            on: BrokerConnection(loop: loop, connectors: connectors, configuration: connection),
            configuration: configuration, ownsConnection: true)
    }

    private init(on connection: BrokerConnection, configuration: PublisherConfiguration, ownsConnection: Bool) {
        self.configuration = configuration
        window = ConfirmWindow(
            countMax: configuration.unconfirmedMax, bytesMax: configuration.unconfirmedBytesMax)
        (readyAt, answeredAt) = (connection.loop.now.monotonic, connection.loop.now.monotonic)
        userID = connection.configuration.userID
        timer = DeadlineTimer(on: connection.loop)
        let options = ChannelOptions(
            bodyBytesMax: configuration.messageBytesMax, closeSecondsMax: configuration.closeSecondsMax)
        super.init(AMQPChannel(on: connection, options, ownsConnection: ownsConnection))
    }

    /// Starts the connection if necessary, and publishes once the connection is open. A later call only sets the
    /// handler, if none is set.
    public func start(_ handler: SessionHandler? = nil) {
        self.handler = self.handler ?? handler
        channel.start(self)
    }

    /// Starts the publisher so that it also receives direct replies. The handler also receives the loss of a channel.
    /// The replies to all earlier messages are then lost. Replies need no settlement. Call this function instead of
    /// `start(_:)`.
    public func startWithReplies(_ handler: ConsumerHandler) {
        replyHandler = handler
        start(handler)
    }

    /// The number of messages that were sent and that the broker has neither confirmed nor refused.
    public var unconfirmedCount: Int { window.count }
    /// The number of messages that wait to be sent.
    public var waitingCount: Int { queue.count }

    /// Publishes `message` and returns its outcome.
    ///
    /// Only `confirmed` means that the message is safe. After `unknown`, publishing the message again may duplicate it.
    /// The timeouts of the configuration limit the wait. Canceling the task does not end the wait.
    public func publish(_ message: OutgoingMessage) async -> PublishOutcome {
        await withUnsafeContinuation { publish(message, ContinuationReceiver($0)) }
    }

    /// Publishes `message` and reports its outcome to `receiver`.
    public func publish(_ message: OutgoingMessage, _ receiver: PublishReceiver) {
        loop.assertOnLoop()
        defer { notifyReceivers() }
        guard message.content.count <= configuration.messageBytesMax else {
            return complete(receiver, .refused(.bodyTooLarge))
        }
        if queue.isPassable, hasRoom(for: message) {
            send(message, receiver)
        } else {
            wait(message, receiver)
            if queue.hasMissingExchanges { sendWaiting() }
        }
    }

    private func hasRoom(for message: OutgoingMessage) -> Bool {
        channel.acceptsPublishes && window.hasRoom(for: message.content.count)
    }

    private func send(_ message: OutgoingMessage, _ receiver: PublishReceiver) {
        do throws(PublishRefusal) {
            let size = try channel.publish(message, userID: message.carriesUserID ? userID : nil)
            let now = loop.now.monotonic
            let sent = MessageFingerprint(
                exchange: message.exchange, routingKey: message.routingKey, messageID: message.messageID,
                headers: message.headers, body: message.content)
            _ = window.sent(Unmanaged.passRetained(receiver), sent, size: size, now: now)
            setTimer(now.adding(seconds: Int64(configuration.confirmTimeoutSeconds)))
        } catch {
            complete(receiver, .refused(error))
        }
    }

    private func wait(_ message: OutgoingMessage, _ receiver: PublishReceiver) {
        if status == .closed { return complete(receiver, .notSent(ConnectionMachine.closedByUs)) }
        guard waitingCount < configuration.waitingMax else {
            let error = AMQPError(.timedOut, "\(waitingCount) messages already wait to be published")
            return complete(receiver, .notSent(error))
        }
        let deadline = loop.now.monotonic + .seconds(configuration.publishTimeoutSeconds)
        queue.append(PublishQueue.Entry(message: message, receiver: receiver, deadline: deadline))
        setTimer(deadline)
    }

    private func sendWaiting() {
        while let next = queue.next(isIdle: window.isEmpty, hasRoom: hasRoom) {
            send(next.message, next.receiver)
            if next.isAlone, !window.isEmpty { queue.trialSent(to: next.message.exchange) }
        }
    }

    // MARK: - Deadlines

    private var confirmTimeout: Duration { .seconds(configuration.confirmTimeoutSeconds) }

    private func setTimer(_ time: MonotonicTime) {
        timer.arm(at: time, for: self) { $0.completeOverdue() }
    }

    private func completeOverdue() {
        defer { notifyReceivers() }
        let now = loop.now.monotonic
        while let first = queue.popOverdue(now) { complete(first.receiver, .notSent(notSentReason)) }
        let late = AMQPError(
            .timedOut, "the broker did not confirm within \(configuration.confirmTimeoutSeconds) s")
        window.giveUpWaiting(sentUntil: now - confirmTimeout) { complete($0, .unknown(late)) }
        if let oldest = window.oldestSentAt, status == .ready {
            let dueAt = min(max(oldest, answeredAt) + confirmTimeout, max(oldest, readyAt) + confirmTimeout * 2)
            if dueAt <= now { channel.abandon(late) } else { setTimer(dueAt) }
        }
        if let deadline = queue.deadline { setTimer(deadline) }
        if let oldest = window.oldestAwaitedSentAt() {
            setTimer(oldest + confirmTimeout)
        } else if !window.isEmpty {
            setTimer(now + confirmTimeout)
        }
    }

    private var notSentReason: AMQPError {
        switch status {
        case .waiting(let error, _): error
        case .blocked(let reason): AMQPError(.timedOut, "the broker accepts no publishes: \(reason)")
        case .closed: ConnectionMachine.closedByUs
        case .idle, .connecting, .disconnected:
            channel.failure ?? AMQPError(.timedOut, "the connection to the broker is not open")
        case .ready: AMQPError(.timedOut, "\(window.count) messages are unconfirmed")
        }
    }

    // MARK: - Outcomes

    private func complete(_ receiver: PublishReceiver, _ outcome: PublishOutcome) {
        complete(.passRetained(receiver), outcome)
    }

    private func complete(_ receiver: Unmanaged<PublishReceiver>, _ outcome: PublishOutcome) {
        completions.append(Completion(receiver: receiver, outcome: outcome))
    }

    /// Notifies the receivers of `completions`. Call this function after all changes of state, because a
    /// receiver may call `publish` again.
    ///
    /// Calls are not nested. One confirm may complete thousands of messages whose receivers all publish, and nested
    /// calls could exhaust the stack.
    private func notifyReceivers() {
        guard !isNotifying else { return }
        isNotifying = true
        while let first = completions.popFirst() { first.receiver.takeRetainedValue().published(first.outcome) }
        isNotifying = false
    }

    private func confirmed(_ confirm: ServerMethod.Confirm, isPositive: Bool) -> Bool {
        let isOpen = window.confirmed(confirm.number, multiple: confirm.multiple, positive: isPositive) {
            $0._withUnsafeGuaranteedRef { Prefetch.object($0) }
        } _: {
            complete($0, $1)
        }
        answeredAt = loop.now.monotonic
        if isPositive { (refusedSince, renewals) = (nil, 0) } else { refused() }
        if queue.isTrialPending, window.isEmpty { queue.trialAnswered() }
        if waitingCount > 0 { sendWaiting() }
        notifyReceivers()
        return isOpen
    }

    /// Records a refusal, and replaces the channel if the broker has refused every message for too long
    /// (`PublisherConfiguration.refusedSecondsMax`). The replacement makes the outcome of messages in flight unknown.
    /// The oldest of these messages must therefore have been in flight for the same time.
    private func refused() {
        let now = loop.now.monotonic
        let since = refusedSince ?? now
        refusedSince = since
        let seconds = configuration.refusedSecondsMax << min(renewals, 5)
        guard status == .ready, max(since, window.oldestSentAt ?? since) + .seconds(seconds) <= now else { return }
        renewals += 1
        channel.renew(AMQPError(.timedOut, "the broker refused every publish for \(seconds) seconds"))
    }

    // MARK: - Channel

    override func opened() {
        channel.send(.confirmSelect)
    }

    override func lost(_ error: AMQPError) {
        queue.channelLost(error)
        refusedSince = nil
        isReplyArriving = false
        if error.detail == .refusedUserID, userID != nil {
            userID = nil
            handler?.userIDRefused(error)
        }
        window.reset { complete($0, .unknown(error)) }
        notifyReceivers()
        replyHandler?.channelLost()
    }

    override func received(_ method: ServerMethod) -> Bool {
        switch method {
        case .basicAck(let confirm): return confirmed(confirm, isPositive: true)
        case .basicNack(let confirm): return confirmed(confirm, isPositive: false)
        case .basicReturn(let returned): returning = (returned.replyCode, String(wire: returned.replyText))
        case .confirmSelectOK where !channel.isSetUp && replyHandler != nil: channel.send(.basicConsumeReplies)
        case .confirmSelectOK where !channel.isSetUp: channel.setupCompleted()
        case .basicConsumeOK where !channel.isSetUp && replyHandler != nil: channel.setupCompleted()
        default: return false
        }
        return true
    }

    override func received(_ delivery: ServerMethod.Delivery) -> Bool {
        isReplyArriving = replyHandler != nil
        return isReplyArriving
    }

    /// Handles a reply, or a returned message. A returned message that has no message ID or matches no unconfirmed
    /// publish is a protocol violation and resets the connection. Otherwise a message that reached no queue could count
    /// as confirmed.
    override func received(_ content: consuming MessageContent) -> Bool {
        if isReplyArriving {
            isReplyArriving = false
            let tag = DeliveryTag(number: 0, generation: 0, bytes: 0)
            replyHandler?.delivered(
                IncomingMessage(tag: tag, queue: Self.directReplyTo, isRedelivered: false, content: content))
            return true
        }
        guard let messageID = content.properties.messageID else { return false }
        let message = MessageFingerprint(
            exchange: content.exchange, routingKey: content.routingKey, messageID: messageID,
            headers: content.properties.headers ?? FieldTable(), body: content.body)
        return window.returned(message, code: returning.code, text: returning.text)
    }

    override func statusChanged(_ status: BrokerStatus) {
        switch status {
        case .ready:
            (readyAt, answeredAt) = (loop.now.monotonic, loop.now.monotonic)
            sendWaiting()
        case .closed:
            timer.cancel()
            while let first = queue.popFirst() { complete(first.receiver, .notSent(ConnectionMachine.closedByUs)) }
        case .idle, .connecting, .disconnected, .blocked, .waiting:
            break
        }
        notifyReceivers()
        handler?.statusChanged(status)
        // The handler usually retains the owner of this publisher, which would be a reference cycle.
        if status == .closed { (handler, replyHandler) = (nil, nil) }
    }
}
