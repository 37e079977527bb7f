public import EventLoop

/// The limits of a publisher.
public struct PublisherConfiguration: Sendable {
    /// Messages that are sent and not confirmed, and confirmed ones behind the oldest of them.
    public var unconfirmedMax = 4096
    /// Their bytes; a larger message goes alone.
    public var unconfirmedBytesMax = 16 << 20
    /// Messages that wait for room, for a connection, or for the end of a broker's alarm.
    public var waitingMax = 65_536
    /// Larger bodies are refused.
    public var messageBytesMax = 16 << 20
    /// How long a message may wait before it is sent.
    public var publishTimeoutSeconds = 30
    /// How long a confirm may take. The channel is replaced after twice that, or when it has confirmed nothing at all for so
    /// long: RabbitMQ 3.10 was seen to confirm no more on channels while a queue's leader was cut off from the others.
    public var confirmTimeoutSeconds = 30
    /// A channel on which the broker refuses everything for so long is opened anew, and after twice as long each time, up to
    /// 32 times as long: a queue may be full. RabbitMQ 3.10 was seen to do so on channels that were opened just after the
    /// node of a queue's leader died, for as long as that was away.
    public var refusedSecondsMax = 10
    /// How long the close of a channel that is left may take; then its connection is given up, too. RabbitMQ 3.10 was seen
    /// to have a channel wait 7 s with each message for a node that was cut off, and its close for all of them.
    public var closeSecondsMax = 3

    public init() {}
}

/// Publishes persistent messages with `mandatory` set and tells of each what became of it.
///
/// Its channel is opened again whenever it or the connection is lost. What is published meanwhile waits.
public final class Publisher: BrokerChannel {
    private struct Waiting {
        var message: OutgoingMessage
        var receiver: PublishReceiver
        var deadline: MonotonicTime
    }

    /// What became of a message whose receiver is not told yet.
    private struct Ended {
        var receiver: Unmanaged<PublishReceiver>
        var outcome: PublishOutcome
    }

    private let configuration: PublisherConfiguration
    /// Each of its receivers is counted once, until it is told.
    private var window: ConfirmWindow<Unmanaged<PublishReceiver>>
    private var ended = FIFO<Ended>()
    private var isTelling = false
    private var assembler: ContentAssembler
    private var returning = (code: UInt16(0), text: "")
    private var waiting = FIFO<Waiting>()
    private var missing = MissingExchanges()
    /// For exchanges that are missing.
    private var waitingAlone = FIFO<Waiting>()
    private let timer: DeadlineTimer
    /// When the broker last confirmed or refused something, or began to take messages: while it takes none, as in an alarm,
    /// there is nothing to wait for.
    private var answeredAt: MonotonicTime
    /// Since when the broker takes messages.
    private var readyAt: MonotonicTime
    /// Since when the broker has refused all that was published.
    private var refusedSince: MonotonicTime?
    /// Channels that were opened for it since the broker took something.
    private var renewals = 0
    /// The user ID that messages carry. nil if the login does not say it, or if the broker knows the connection by another
    /// name and has refused it.
    public private(set) var userID: String?
    /// Called on the loop once the broker has refused `userID`: messages go without it from then on.
    public var onUserIDRefused: (AMQPError) -> Void = { _ in }

    public convenience init(
        on connection: BrokerConnection, configuration: PublisherConfiguration = PublisherConfiguration()
    ) {
        self.init(on: connection, configuration: configuration, ownsConnection: false)
    }

    private init(on connection: BrokerConnection, configuration: PublisherConfiguration, ownsConnection: Bool) {
        self.configuration = configuration
        window = ConfirmWindow(
            countMax: configuration.unconfirmedMax, bytesMax: configuration.unconfirmedBytesMax)
        assembler = ContentAssembler(bodyBytesMax: configuration.messageBytesMax)
        (readyAt, answeredAt) = (connection.loop.now.monotonic, connection.loop.now.monotonic)
        userID = connection.configuration.userID
        timer = DeadlineTimer(on: connection.loop)
        super.init(on: connection, ownsConnection: ownsConnection)
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

    /// Messages that were sent and are not confirmed.
    public var unconfirmedCount: Int { window.count }
    /// Messages that are not sent yet.
    public var waitingCount: Int { waiting.count + waitingAlone.count }

    /// Publishes `message` and returns once the broker has said what became of it, or will not.
    ///
    /// Only `confirmed` means that the message is safe. After `unknown` it may arrive twice when it is published again.
    /// The configuration's time-outs end the wait; cancelling the task does not.
    public func publish(_ message: OutgoingMessage) async -> PublishOutcome {
        await withUnsafeContinuation { publish(message, ContinuationReceiver($0)) }
    }

    /// The same without a task that waits.
    public func publish(_ message: OutgoingMessage, _ receiver: PublishReceiver) {
        loop.assertOnLoop()
        defer { tellReceivers() }
        guard message.content.count <= configuration.messageBytesMax else {
            return end(receiver, .refused(.bodyTooLarge))
        }
        if waiting.isEmpty, missing.isEmpty, canSend(message) {
            send(message, receiver)
        } else {
            wait(message, receiver)
            if !missing.isEmpty { sendWaiting() }
        }
    }

    private func canSend(_ message: OutgoingMessage) -> Bool {
        guard isReady, case .ready = state, wire?.isOpen == true, !missing.isTrying else { return false }
        return window.hasRoom(for: message.content.count)
    }

    private func send(_ message: OutgoingMessage, _ receiver: PublishReceiver) {
        guard let wire else { return end(receiver, .notSent(Self.closedByUs)) }
        do throws(PublishRefusal) {
            let size = try wire.publish(
                message, channel: number, userID: message.carriesUserID ? userID : nil)
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
        if state == .closed { return end(receiver, .notSent(Self.closedByUs)) }
        guard waitingCount < configuration.waitingMax else {
            let error = AMQPError(.timedOut, "\(waitingCount) messages wait to be published already")
            return end(receiver, .notSent(error))
        }
        let deadline = loop.now.monotonic + .seconds(configuration.publishTimeoutSeconds)
        waiting.append(Waiting(message: message, receiver: receiver, deadline: deadline))
        setTimer(deadline)
    }

    private func sendWaiting() {
        while let first = waiting.first {
            let goesAlone = missing.contains(first.message.exchange)
            guard goesAlone || canSend(first.message) else { return }
            waiting.removeFirst()
            if goesAlone { waitingAlone.append(first) } else { send(first.message, first.receiver) }
        }
        while window.isEmpty, let first = waitingAlone.first, canSend(first.message) {
            waitingAlone.removeFirst()
            send(first.message, first.receiver)
            if !window.isEmpty { missing.tries(first.message.exchange) }
        }
    }

    /// What was sent alone has been answered: what it was for is there.
    private func endTry() {
        guard window.isEmpty else { return }
        missing.tryEnded()
        while let first = waitingAlone.popFirst() { waiting.append(first) }
    }

    private var confirmTimeout: Duration { .seconds(configuration.confirmTimeoutSeconds) }

    private func setTimer(_ time: MonotonicTime) {
        timer.arm(at: time, for: self) { $0.endOverdue() }
    }

    private func endOverdue() {
        defer { tellReceivers() }
        let now = loop.now.monotonic
        while let first = waiting.first, first.deadline <= now {
            waiting.removeFirst()
            end(first.receiver, .notSent(notSentReason))
        }
        while let first = waitingAlone.first, first.deadline <= now {
            waitingAlone.removeFirst()
            end(first.receiver, .notSent(notSentReason))
        }
        let late = AMQPError(.timedOut, "no confirm after \(configuration.confirmTimeoutSeconds) seconds")
        window.giveUpWaiting(sentUntil: now - confirmTimeout) { end($0, .unknown(late)) }
        if let oldest = window.oldestSentAt, state == .ready {
            let dueAt = min(max(oldest, answeredAt) + confirmTimeout, max(oldest, readyAt) + confirmTimeout * 2)
            if dueAt <= now { abandon(late) } else { setTimer(dueAt) }
        }
        if let first = waiting.first { setTimer(first.deadline) }
        if let first = waitingAlone.first { setTimer(first.deadline) }
        if let oldest = window.oldestAwaitedSentAt() {
            setTimer(oldest + confirmTimeout)
        } else if !window.isEmpty {
            setTimer(now + confirmTimeout)
        }
    }

    private var notSentReason: AMQPError {
        switch state {
        case .waiting(let error, _): error
        case .blocked(let reason): AMQPError(.timedOut, "the broker takes no messages: \(reason)")
        case .closed: Self.closedByUs
        case .idle, .connecting, .disconnected: failure ?? AMQPError(.timedOut, "not connected")
        case .ready: AMQPError(.timedOut, "\(window.count) messages are unconfirmed")
        }
    }

    override func channelOpened() {
        send(.confirmSelect)
    }

    override var closeSecondsMax: Int { configuration.closeSecondsMax }

    override func channelLost(_ error: AMQPError) {
        assembler.reset()
        missing.channelLost(error)
        refusedSince = nil
        if error.detail == .refusedUserID, userID != nil {
            userID = nil
            onUserIDRefused(error)
        }
        window.reset { end($0, .unknown(error)) }
        tellReceivers()
    }

    override func stateChanged() {
        defer { tellReceivers() }
        switch state {
        case .ready:
            (readyAt, answeredAt) = (loop.now.monotonic, loop.now.monotonic)
            sendWaiting()
        case .closed:
            timer.cancel()
            // The closure usually retains the publisher's owner.
            onUserIDRefused = { _ in }
            while let first = waiting.popFirst() ?? waitingAlone.popFirst() {
                end(first.receiver, .notSent(Self.closedByUs))
            }
        case .idle, .connecting, .disconnected, .blocked, .waiting:
            break
        }
    }

    override func methodReceived(_ method: ServerMethod) -> Bool {
        guard !assembler.isBusy else { return false }
        switch method {
        case .confirmSelectOK:
            guard !isReady else { return false }
            becomeReady()
            return true
        case .basicAck(let confirm):
            return confirmed(confirm.number, multiple: confirm.multiple, positive: true)
        case .basicNack(let confirm):
            return confirmed(confirm.number, multiple: confirm.multiple, positive: false)
        case .basicReturn(let returned):
            returning = (returned.replyCode, String(wire: returned.replyText))
            assembler.begin(exchange: returned.exchange, routingKey: returned.routingKey)
            return true
        default:
            return false
        }
    }

    private func confirmed(_ number: UInt64, multiple: Bool, positive: Bool) -> Bool {
        let isOpen = window.confirmed(number, multiple: multiple, positive: positive) {
            $0._withUnsafeGuaranteedRef { Prefetch.object($0) }
        } _: {
            end($0, $1)
        }
        answeredAt = loop.now.monotonic
        if positive { (refusedSince, renewals) = (nil, 0) } else { refused() }
        if missing.isTrying { endTry() }
        if waitingCount > 0 { sendWaiting() }
        tellReceivers()
        return isOpen
    }

    private func end(_ receiver: PublishReceiver, _ outcome: PublishOutcome) {
        end(.passRetained(receiver), outcome)
    }

    private func end(_ receiver: Unmanaged<PublishReceiver>, _ outcome: PublishOutcome) {
        ended.append(Ended(receiver: receiver, outcome: outcome))
    }

    /// Once all else is as it is to be: whom it tells may publish. One after the other, as one confirm may be for
    /// thousands and each could lead to the next, a call deeper.
    private func tellReceivers() {
        guard !isTelling else { return }
        isTelling = true
        while let first = ended.popFirst() { first.receiver.takeRetainedValue().published(first.outcome) }
        isTelling = false
    }

    /// While something is on its way, its outcome would be unknown: then only where that takes as long.
    private func refused() {
        let now = loop.now.monotonic
        let since = refusedSince ?? now
        refusedSince = since
        let seconds = configuration.refusedSecondsMax << min(renewals, 5)
        guard state == .ready, max(since, window.oldestSentAt ?? since) + .seconds(seconds) <= now else { return }
        renewals += 1
        renew(AMQPError(.timedOut, "the broker refused everything for \(seconds) seconds"))
    }

    override func contentHeaderReceived(_ payload: UnsafeRawBufferPointer) -> Bool {
        returned(assembler.header(payload))
    }

    override func contentBodyReceived(_ payload: UnsafeRawBufferPointer) -> Bool {
        returned(assembler.body(payload))
    }

    /// A return that belongs to no message would let one pass as delivered that was not: it ends the connection.
    private func returned(_ step: ContentAssembler.Step) -> Bool {
        switch step {
        case .incomplete: return true
        case .violation: return false
        case .complete: break
        }
        let content = assembler.take()
        guard let messageID = content.properties.messageID else { return false }
        let message = MessageFingerprint(
            exchange: content.exchange, routingKey: content.routingKey, messageID: messageID,
            headers: content.properties.headers ?? FieldTable(), body: content.body)
        return window.returned(message, code: returning.code, text: returning.text)
    }
}
