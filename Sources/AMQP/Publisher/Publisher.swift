public import EventLoop

/// Publishes persistent messages with `mandatory` set and reports the outcome of each.
///
/// Its channel is opened again whenever it or the connection is lost. What is published meanwhile waits.
public final class Publisher: ChannelHandler {
    /// The outcome of a message whose receiver was not notified yet.
    private struct Ended {
        var receiver: Unmanaged<PublishReceiver>
        var outcome: PublishOutcome
    }

    private let configuration: PublisherConfiguration
    private var handler: SessionHandler?
    /// Each of its receivers is retained once, until it is notified.
    private var window: ConfirmWindow<Unmanaged<PublishReceiver>>
    private var queue = PublishQueue()
    private var ended = FIFO<Ended>()
    private var isNotifying = false
    private var returning = (code: UInt16(0), text: "")
    private let timer: DeadlineTimer
    /// When the broker last confirmed or refused something, or began to accept messages: while it accepts none, as in an
    /// alarm, there is nothing to wait for.
    private var answeredAt: MonotonicTime
    /// Since when the broker accepts messages.
    private var readyAt: MonotonicTime
    /// Since when the broker has refused all that was published.
    private var refusedSince: MonotonicTime?
    /// Channels that were opened for it since the broker took something.
    private var renewals = 0
    /// The user ID that messages carry. nil if the login does not say it, or if the broker knows the connection by another
    /// name and has refused it.
    public private(set) var userID: String?

    public convenience init(
        on connection: BrokerConnection, configuration: PublisherConfiguration = PublisherConfiguration()
    ) {
        self.init(on: connection, configuration: configuration, ownsConnection: false)
    }

    /// On a connection of its own, which `start` opens and `close` closes.
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

    /// Publishes once the connection is open, and starts the connection if it is not started. Later calls do nothing.
    public func start(_ handler: SessionHandler? = nil) {
        self.handler = self.handler ?? handler
        channel.start(self)
    }

    /// Messages that were sent and are not confirmed.
    public var unconfirmedCount: Int { window.count }
    /// Messages that are not sent yet.
    public var waitingCount: Int { queue.count }

    /// Publishes `message` and returns once the broker has reported the outcome, or will not.
    ///
    /// Only `confirmed` means that the message is safe. After `unknown` it may arrive twice when it is published again.
    /// The configuration's time-outs end the wait; cancelling the task does not.
    public func publish(_ message: OutgoingMessage) async -> PublishOutcome {
        await withUnsafeContinuation { publish(message, ContinuationReceiver($0)) }
    }

    /// The same without a task that waits.
    public func publish(_ message: OutgoingMessage, _ receiver: PublishReceiver) {
        loop.assertOnLoop()
        defer { notifyReceivers() }
        guard message.content.count <= configuration.messageBytesMax else {
            return end(receiver, .refused(.bodyTooLarge))
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
            end(receiver, .refused(error))
        }
    }

    private func wait(_ message: OutgoingMessage, _ receiver: PublishReceiver) {
        if status == .closed { return end(receiver, .notSent(ConnectionMachine.closedByUs)) }
        guard waitingCount < configuration.waitingMax else {
            let error = AMQPError(.timedOut, "\(waitingCount) messages wait to be published already")
            return end(receiver, .notSent(error))
        }
        let deadline = loop.now.monotonic + .seconds(configuration.publishTimeoutSeconds)
        queue.append(PublishQueue.Entry(message: message, receiver: receiver, deadline: deadline))
        setTimer(deadline)
    }

    private func sendWaiting() {
        while let next = queue.next(isIdle: window.isEmpty, hasRoom: hasRoom) {
            send(next.message, next.receiver)
            if next.isAlone, !window.isEmpty { queue.tries(next.message.exchange) }
        }
    }

    // MARK: - Deadlines

    private var confirmTimeout: Duration { .seconds(configuration.confirmTimeoutSeconds) }

    private func setTimer(_ time: MonotonicTime) {
        timer.arm(at: time, for: self) { $0.endOverdue() }
    }

    private func endOverdue() {
        defer { notifyReceivers() }
        let now = loop.now.monotonic
        while let first = queue.popOverdue(now) { end(first.receiver, .notSent(notSentReason)) }
        let late = AMQPError(.timedOut, "no confirm after \(configuration.confirmTimeoutSeconds) seconds")
        window.giveUpWaiting(sentUntil: now - confirmTimeout) { end($0, .unknown(late)) }
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
        case .blocked(let reason): AMQPError(.timedOut, "the broker takes no messages: \(reason)")
        case .closed: ConnectionMachine.closedByUs
        case .idle, .connecting, .disconnected: channel.failure ?? AMQPError(.timedOut, "not connected")
        case .ready: AMQPError(.timedOut, "\(window.count) messages are unconfirmed")
        }
    }

    // MARK: - Outcomes

    private func end(_ receiver: PublishReceiver, _ outcome: PublishOutcome) {
        end(.passRetained(receiver), outcome)
    }

    private func end(_ receiver: Unmanaged<PublishReceiver>, _ outcome: PublishOutcome) {
        ended.append(Ended(receiver: receiver, outcome: outcome))
    }

    /// Notify receivers last: a receiver may call `publish` again. One after the other, as one confirm may be for thousands
    /// and each could lead to the next, a call deeper.
    private func notifyReceivers() {
        guard !isNotifying else { return }
        isNotifying = true
        while let first = ended.popFirst() { first.receiver.takeRetainedValue().published(first.outcome) }
        isNotifying = false
    }

    private func confirmed(_ confirm: ServerMethod.Confirm, isPositive: Bool) -> Bool {
        let isOpen = window.confirmed(confirm.number, multiple: confirm.multiple, positive: isPositive) {
            $0._withUnsafeGuaranteedRef { Prefetch.object($0) }
        } _: {
            end($0, $1)
        }
        answeredAt = loop.now.monotonic
        if isPositive { (refusedSince, renewals) = (nil, 0) } else { refused() }
        if queue.isTrying, window.isEmpty { queue.endTry() }
        if waitingCount > 0 { sendWaiting() }
        notifyReceivers()
        return isOpen
    }

    /// While something is in flight, its outcome would be unknown: then only where that takes as long.
    private func refused() {
        let now = loop.now.monotonic
        let since = refusedSince ?? now
        refusedSince = since
        let seconds = configuration.refusedSecondsMax << min(renewals, 5)
        guard status == .ready, max(since, window.oldestSentAt ?? since) + .seconds(seconds) <= now else { return }
        renewals += 1
        channel.renew(AMQPError(.timedOut, "the broker refused everything for \(seconds) seconds"))
    }

    // MARK: - Channel

    override func opened() {
        channel.send(.confirmSelect)
    }

    override func lost(_ error: AMQPError) {
        queue.channelLost(error)
        refusedSince = nil
        if error.detail == .refusedUserID, userID != nil {
            userID = nil
            handler?.userIDRefused(error)
        }
        window.reset { end($0, .unknown(error)) }
        notifyReceivers()
    }

    override func received(_ method: ServerMethod) -> Bool {
        switch method {
        case .basicAck(let confirm): return confirmed(confirm, isPositive: true)
        case .basicNack(let confirm): return confirmed(confirm, isPositive: false)
        case .basicReturn(let returned): returning = (returned.replyCode, String(wire: returned.replyText))
        case .confirmSelectOK where !channel.isSetUp: channel.setupCompleted()
        default: return false
        }
        return true
    }

    /// A return that belongs to no message would let one pass as delivered that was not: it ends the connection.
    override func received(_ content: consuming MessageContent) -> Bool {
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
            while let first = queue.popFirst() { end(first.receiver, .notSent(ConnectionMachine.closedByUs)) }
        case .idle, .connecting, .disconnected, .blocked, .waiting:
            break
        }
        notifyReceivers()
        handler?.statusChanged(status)
        // The handler usually retains the owner of this publisher.
        if status == .closed { handler = nil }
    }
}
