public import EventLoop

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

/// Takes messages from one queue on a channel of its own: consumes, and does so again whenever the connection, the channel
/// or the queue is lost.
///
/// A queue that does not exist (yet) is waited for. Acknowledgements are gathered and leave at the end of the turn.
public final class Consumer: BrokerChannel {
    private enum Consumption {
        /// To: starting.
        case stopped
        /// `basic.consume` was sent. To: running, cancelled, stopped with the channel.
        case starting
        /// To: quiescing, stopping, cancelled, stopped with the channel.
        case running
        /// No more deliveries are wanted: settlements are withheld until nothing is in transit. To: running, stopping,
        /// cancelled, stopped with the channel.
        case quiescing(Quiescence)
        /// `basic.cancel` was sent. To: stopped.
        case stopping
        /// The broker ended it; it is started again after a delay. To: stopped.
        case cancelled
    }

    /// How a delivery returns to the broker.
    private enum Return {
        case reject(requeue: Bool)
        case requeue
    }

    /// The part of a prefetch that may be unsettled when the next consumer begins, with a prefetch of its own.
    private static let oldShareMax = 4

    /// Called on the loop for each delivery. Set it before the connection is started.
    public var onDelivery: (consuming IncomingMessage) -> Void = { _ in }
    /// Called on the loop, once, when a channel is lost on which something was delivered: `holds` is false now for all of
    /// it, and what was not settled is delivered again, later.
    public var onChannelLost: () -> Void = {}
    /// Bytes of bodies and properties that were delivered and are not settled.
    public private(set) var bodyBytesInFlight = 0
    /// Settlements without an effect: the channel of the delivery is gone, and the broker delivers it again; or it was
    /// settled before.
    public private(set) var staleSettlements = 0

    private let configuration: ConsumerConfiguration
    private var generation: UInt32 = 0
    private var window: AckWindow
    private var settlements = RecentSettlements()
    /// Whether a settlement was sent after the last `basic.cancel`.
    private var hasSettledSinceCancel = false
    private var assembler: ContentAssembler
    private var consumption = Consumption.stopped
    /// Of `basic.consume` on all channels. RabbitMQ 3.10 and 3.11 crash a channel on which a consumer tag is used again while
    /// deliveries to it are unsettled (rabbitmq-server#5927), so that each has a tag of its own.
    private var consumerNumber = 0
    private var consumerTag: String { "martlet-\(consumerNumber)" }
    /// The first delivery that may be to the consumer of now.
    private var firstTag: UInt64 = 1
    private var quiescenceTimer: TimerToken?
    /// At most one for each unsettled delivery.
    private var withheld: [(tag: UInt64, way: Return)] = []
    /// Why the broker ended the consumer; nil once it consumes again.
    private var cancellation: AMQPError?
    private var wantsToConsume = true
    private var arriving = (tag: UInt64(0), isRedelivered: false)
    private var isHeldUp = false
    private var ackTimer: TimerToken?
    private var stopWaiters: [UnsafeContinuation<Void, Never>] = []
    /// Of `basic.qos` that was sent for its answer alone.
    private var echoes = (sent: 0, answered: 0, waiters: [UnsafeContinuation<Void, Never>]())

    public convenience init(on connection: BrokerConnection, configuration: ConsumerConfiguration) {
        self.init(on: connection, configuration: configuration, ownsConnection: false)
    }

    private init(on connection: BrokerConnection, configuration: ConsumerConfiguration, ownsConnection: Bool) {
        self.configuration = configuration
        window = Self.newWindow(configuration)
        assembler = ContentAssembler(bodyBytesMax: configuration.messageBytesMax)
        super.init(on: connection, ownsConnection: ownsConnection)
    }

    /// On a connection of its own, which `start` opens and `close` closes.
    public convenience init(
        loop: EventLoop, connectors: [ByteConnector], connection: ConnectionConfiguration,
        configuration: ConsumerConfiguration
    ) {
        self.init(
            on: BrokerConnection(loop: loop, connectors: connectors, configuration: connection),
            configuration: configuration, ownsConnection: true)
    }

    private static func newWindow(_ configuration: ConsumerConfiguration) -> AckWindow {
        AckWindow(
            expected: configuration.prefetch, delayMax: .milliseconds(configuration.acknowledgeDelayMilliseconds))
    }

    /// As `basic.qos` has it, where 0 is no limit.
    private var prefetch: Int { min(max(1, configuration.prefetch), Int(UInt16.max)) }

    /// No broker has more open: a prefetch and a quarter.
    private var openMax: Int { prefetch * 2 + Self.openSpare }
    private static let openSpare = 16

    /// Deliveries that are neither acknowledged, rejected nor requeued.
    public var unsettledCount: Int { window.openCount }

    /// The delivery has been dealt with: the broker may forget it.
    public func acknowledge(_ tag: DeliveryTag) {
        guard isCurrent(tag), ended(tag, window.acknowledge(tag.number, now: loop.now.monotonic)) else { return }
        wire?.flushAtEndOfTurn()
    }

    /// The message did harm: it goes to the queue's dead-letter exchange or, with `requeue`, back to the queue, where it
    /// counts as a failed delivery.
    public func reject(_ tag: DeliveryTag, requeue: Bool) {
        giveBack(tag, .reject(requeue: requeue))
    }

    /// The message is put back unharmed, for another worker; from RabbitMQ 4.3 on this is no failed delivery.
    public func requeue(_ tag: DeliveryTag) {
        giveBack(tag, .requeue)
    }

    private func giveBack(_ tag: DeliveryTag, _ way: Return) {
        guard isCurrent(tag), ended(tag, window.settle(tag.number)) else { return }
        if case .quiescing = consumption {
            withheld.append((tag.number, way))
        } else {
            send(way, tag.number)
        }
    }

    private func send(_ way: Return, _ tag: UInt64) {
        noteSettlements(1, loop.now.monotonic)
        switch way {
        case .reject(let requeue): send(.basicReject(deliveryTag: tag, requeue: requeue))
        case .requeue: send(.basicNack(deliveryTag: tag))
        }
    }

    private func noteSettlements(_ count: Int, _ now: MonotonicTime) {
        settlements.sent(count, at: now)
        hasSettledSinceCancel = true
    }

    /// Whether the delivery is unsettled and its channel still there, so that it can be settled.
    public func holds(_ tag: DeliveryTag) -> Bool {
        tag.generation == generation && window.isOpen(tag.number)
    }

    /// Whether the channel of a delivery is still there. What is settled later gives back its bytes all the same.
    private func isCurrent(_ tag: DeliveryTag) -> Bool {
        loop.assertOnLoop()
        if tag.generation == generation { return true }
        staleSettlements += 1
        giveBack(tag.bytes)
        return false
    }

    /// Gives back the bytes of a delivery, unless it was settled before.
    private func ended(_ tag: DeliveryTag, _ wasOpen: Bool) -> Bool {
        if wasOpen { giveBack(tag.bytes) } else { staleSettlements += 1 }
        return wasOpen
    }

    private func giveBack(_ bytes: UInt32) {
        bodyBytesInFlight = max(0, bodyBytesInFlight - Int(bytes))
        if isHeldUp, bodyBytesInFlight <= configuration.bodyBytesInFlightMax / 4 * 3 {
            isHeldUp = false
            connection.resumeReading()
        }
    }

    override func willFlush() {
        sendSettlements()
        if case .stopped = consumption, wantsToConsume, isReady, !connection.isClosing { consumeWhenSettled() }
    }

    /// - Parameter all: acknowledgements that wait for older deliveries as well.
    private func sendSettlements(all: Bool = false) {
        if case .quiescing = consumption { return }
        // First: a later acknowledgement may be for all before it.
        for (tag, way) in withheld { send(way, tag) }
        withheld.removeAll(keepingCapacity: true)
        let now = loop.now.monotonic
        window.decide(now: all ? .distantFuture : now)
        if !window.acks.isEmpty { noteSettlements(window.acks.count, now) }
        for ack in window.acks {
            wire?.acknowledge(ack.tag, multiple: ack.multiple, channel: number)
        }
        window.acks.removeAll(keepingCapacity: true)
        guard ackTimer == nil, let deadline = window.deadline else { return }
        ackTimer = loop.schedule(at: deadline) { [self] in
            ackTimer = nil
            wire?.flushAtEndOfTurn()
        }
    }

    /// What is done leaves now, however short it has waited: whoever takes over would do it again.
    override func willClose() {
        if case .quiescing = consumption { sendCancel() }
        sendSettlements(all: true)
    }

    /// Asks the broker for no more deliveries until `resume`. Those that come nevertheless are to be settled as ever; the
    /// channel stays ready, also across a lost connection.
    ///
    /// The broker is asked when nothing is in transit, so that no delivery counts as failed: settlements are withheld for up
    /// to 250 ms.
    public func pause() {
        loop.assertOnLoop()
        wantsToConsume = false
        switch consumption {
        case .running: quiesce()
        case .stopped: if isReady { becomeReady() }
        case .starting, .quiescing, .stopping, .cancelled: break
        }
    }

    /// Takes deliveries again after `pause` or `stopConsuming`: once no more are unsettled than a quarter of the prefetch.
    public func resume() {
        loop.assertOnLoop()
        wantsToConsume = true
        switch consumption {
        case .stopped:
            guard isReady else { return }
            // `pause` has made the channel ready, and the queue may still be missing.
            if let cancellation, state == .ready { cancelled(cancellation) } else { consumeWhenSettled() }
        case .quiescing:
            endQuiescence()
            consumption = .running
            wire?.flushAtEndOfTurn()
            resumeStopWaiters()
        case .starting, .running, .stopping, .cancelled: break
        }
    }

    private func quiesce() {
        let now = loop.now.monotonic
        review(Quiescence(room: prefetch - window.unacknowledgedCount(from: firstTag), now: now), now)
    }

    private func review(_ quiescence: Quiescence, _ now: MonotonicTime) {
        consumption = .quiescing(quiescence)
        guard !quiescence.isOver(now: now) else { return sendCancel() }
        guard quiescenceTimer == nil else { return }
        quiescenceTimer = loop.schedule(at: quiescence.endsAt) { [self] in
            quiescenceTimer = nil
            if case .quiescing(let quiescence) = consumption { review(quiescence, loop.now.monotonic) }
        }
    }

    private func endQuiescence() {
        if let quiescenceTimer { loop.cancel(quiescenceTimer) }
        quiescenceTimer = nil
    }

    /// The deadline is for whatever is asked of the broker.
    private func updateDeadline() {
        answered()
        switch consumption {
        case .starting, .stopping: expectAnswer()
        case .stopped, .running, .quiescing, .cancelled: break
        }
    }

    /// Asks the broker for no more deliveries, as `pause` does, and returns when none can come any more, or after
    /// `deadlineSeconds`. Those that came, also while this waited, are to be settled as ever. Across a lost connection it
    /// stays stopped.
    public func stopConsuming(deadlineSeconds: Int? = nil) async {
        await stopConsuming(by: deadlineSeconds.map { loop.now.monotonic + .seconds($0) })
    }

    /// As `stopConsuming(deadlineSeconds:)`, to a point in time.
    public func stopConsuming(by deadline: MonotonicTime?) async {
        loop.assertOnLoop()
        pause()
        switch consumption {
        case .stopped, .cancelled: return
        case .starting, .running, .quiescing, .stopping: break
        }
        if case .quiescing = consumption, let deadline, deadline < loop.now.monotonic + Quiescence.longest {
            sendCancel()
        }
        let timer = deadline.map { loop.schedule(at: $0) { [self] in resumeStopWaiters() } }
        await withUnsafeContinuation { stopWaiters.append($0) }
        if let timer { loop.cancel(timer) }
    }

    /// Takes no more deliveries, and returns when what was settled is not lost with the channel any more, or after
    /// `deadline`: to be called before the channel is closed.
    ///
    /// RabbitMQ answers `basic.cancel` when the queue has applied what came before. Where nothing is consumed any more, an
    /// answer shows only that the broker has read it. The queue has applied it after a time (``RecentSettlements``).
    ///
    /// - Returns: false where it may be lost: there was no answer in time, or the channel has ended meanwhile.
    @discardableResult public func untilSettled(by deadline: MonotonicTime) async -> Bool {
        sendSettlements(all: true)
        let channel = generation
        let wasRunning = if case .running = consumption { true } else { false }
        await stopConsuming(by: deadline)
        if case .stopping = consumption { return false }
        sendSettlements(all: true)
        // What was withheld, or settled meanwhile, left behind `basic.cancel`: its answer says nothing of that.
        if !wasRunning || hasSettledSinceCancel {
            guard isReady, await isEchoed(by: deadline) else { return false }
            if let safeAt = settlements.safeAt, safeAt > loop.now.monotonic {
                await loop.sleep(for: loop.now.monotonic.duration(to: min(safeAt, deadline)))
                if safeAt > deadline { return false }
            }
        }
        return generation == channel
    }

    /// Whether the broker has read what was sent; `basic.qos` is answered and changes nothing.
    private func isEchoed(by deadline: MonotonicTime) async -> Bool {
        echoes.sent += 1
        let number = echoes.sent
        sendPrefetch()
        let timer = loop.schedule(at: deadline) { [self] in resumeEchoWaiters() }
        await withUnsafeContinuation { echoes.waiters.append($0) }
        loop.cancel(timer)
        return echoes.answered >= number
    }

    private func resumeEchoWaiters() {
        let waiters = echoes.waiters
        echoes.waiters = []
        for waiter in waiters { waiter.resume() }
    }

    /// A consumer keeps the prefetch that it began with, and what was delivered to those before it does not count for it. So
    /// that the unsettled deliveries are bounded by a prefetch and a quarter, the next one begins once most are settled.
    private func consumeWhenSettled() {
        if window.unacknowledgedCount <= prefetch / Self.oldShareMax { sendConsume() }
    }

    private func sendConsume() {
        consumption = .starting
        consumerNumber += 1
        firstTag = window.nextTag
        expectAnswer()
        let sent = send(
            .basicConsume(queue: configuration.queue, consumerTag: consumerTag, arguments: FieldTable()))
        if !sent {
            abandon(AMQPError(.preconditionFailed, "the queue's name is longer than 255 bytes", isRetriable: false))
        }
    }

    /// What was withheld follows at the end of the turn.
    private func sendCancel() {
        endQuiescence()
        consumption = .stopping
        hasSettledSinceCancel = false
        expectAnswer()
        send(.basicCancel(consumerTag: consumerTag))
    }

    private func consumptionStopped() {
        consumption = .stopped
        resumeStopWaiters()
    }

    private func resumeStopWaiters() {
        let waiters = stopWaiters
        stopWaiters = []
        for waiter in waiters { waiter.resume() }
    }

    override func stateChanged() {
        guard case .closed = state else { return }
        // What they call holds, as a rule, whoever owns this consumer.
        onDelivery = { _ in }
        onChannelLost = {}
    }

    override func channelOpened() {
        generation &+= 1
        sendPrefetch()
    }

    private func sendPrefetch() {
        send(.basicQos(prefetch: UInt16(prefetch)))
    }

    override func channelLost(_ error: AMQPError) {
        generation &+= 1
        let hadDeliveries = window.hadDeliveries
        window = Self.newWindow(configuration)
        settlements = RecentSettlements()
        withheld = []
        endQuiescence()
        cancellation = nil
        assembler.reset()
        if isHeldUp {
            isHeldUp = false
            connection.resumeReading()
        }
        if let ackTimer { loop.cancel(ackTimer) }
        ackTimer = nil
        consumptionStopped()
        (echoes.sent, echoes.answered) = (0, 0)
        resumeEchoWaiters()
        // Once all is as it is to be: what it calls may settle, pause or resume.
        if hadDeliveries { onChannelLost() }
    }

    override func deliveryReceived(_ delivery: ServerMethod.Delivery) -> Bool {
        guard !assembler.isBusy, window.openCount < openMax, window.delivered(delivery.tag) else { return false }
        arriving = (delivery.tag, delivery.isRedelivered)
        assembler.begin(exchange: delivery.exchange, routingKey: delivery.routingKey)
        switch consumption {
        // The answer to our cancel stands behind all that is on its way.
        case .stopping: updateDeadline()
        case .quiescing(var quiescence):
            quiescence.delivered(now: loop.now.monotonic)
            review(quiescence, loop.now.monotonic)
        case .stopped, .starting, .running, .cancelled: break
        }
        return true
    }

    override func methodReceived(_ method: ServerMethod) -> Bool {
        guard !assembler.isBusy else { return false }
        switch method {
        case .basicQosOK where echoes.answered < echoes.sent:
            echoes.answered += 1
            resumeEchoWaiters()
            return true
        case .basicQosOK:
            guard !isReady, case .stopped = consumption else { return false }
            if wantsToConsume { sendConsume() } else { becomeReady() }
            return true
        case .basicConsumeOK:
            guard case .starting = consumption else { return false }
            cancellation = nil
            consumption = .running
            becomeReady()
            updateDeadline()
            if !wantsToConsume { quiesce() }
            return true
        case .basicCancelOK:
            guard case .stopping = consumption else { return false }
            consumptionStopped()
            becomeReady()
            updateDeadline()
            if wantsToConsume { consumeWhenSettled() }
            return true
        case .basicCancel:
            consumptionCancelled()
            return true
        default:
            return false
        }
    }

    /// The queue was deleted, or its leader was lost: the channel stays, and with it what is unsettled.
    private func consumptionCancelled() {
        switch consumption {
        // The answer to our own cancel follows.
        case .stopping, .stopped, .cancelled: return
        case .starting, .running, .quiescing: break
        }
        endQuiescence()
        cancelled(AMQPError(.consumerCancelled, "the broker ended the consumer of queue \(configuration.queue)"))
        updateDeadline()
        wire?.flushAtEndOfTurn()
        resumeStopWaiters()
    }

    private func cancelled(_ error: AMQPError) {
        consumption = .cancelled
        cancellation = error
        retry(after: error) { [self] in
            guard case .cancelled = consumption else { return }
            consumptionStopped()
            if wantsToConsume {
                consumeWhenSettled()
            } else {
                becomeReady()
                updateDeadline()
            }
        }
    }

    override func contentHeaderReceived(_ payload: UnsafeRawBufferPointer) -> Bool {
        delivered(assembler.header(payload))
    }

    override func contentBodyReceived(_ payload: UnsafeRawBufferPointer) -> Bool {
        delivered(assembler.body(payload))
    }

    private func delivered(_ step: ContentAssembler.Step) -> Bool {
        switch step {
        case .incomplete: return true
        case .violation: return false
        case .complete: break
        }
        let content = assembler.take()
        let bytes = content.bytes.count
        bodyBytesInFlight += bytes
        if !isHeldUp, bodyBytesInFlight >= configuration.bodyBytesInFlightMax {
            isHeldUp = true
            connection.pauseReading()
        }
        let message = IncomingMessage(
            tag: DeliveryTag(number: arriving.tag, generation: generation, bytes: UInt32(clamping: bytes)),
            queue: configuration.queue, isRedelivered: arriving.isRedelivered, content: content)
        onDelivery(message)
        return true
    }
}
