public import EventLoop

/// One channel of a connection, opened again whenever it or the connection is lost: what consumer, publisher and
/// administration have in common.
///
/// An error on a channel costs this channel only, which comes back after a delay of its own.
public class BrokerChannel {
    private enum Phase {
        /// There is no connection. To: opening, closed.
        case detached
        /// To: settingUp, closing, detached.
        case opening
        /// The subclass sets it up. To: ready, lost, closing, detached.
        case settingUp
        /// To: lost, closing, detached.
        case ready
        /// The broker closed it; the connection is there. To: opening, detached, closed.
        case lost
        /// `channel.close` was sent: all that comes before its answer is ignored. To: lost, detached, closed.
        case closing
        case closed
    }

    public final let connection: BrokerConnection
    public final let loop: EventLoop
    public final private(set) var state = BrokerState.idle
    /// Called on the loop at each change of `state`.
    public final var onStateChange: (BrokerState) -> Void = { _ in }
    /// What the broker says it is: see `BrokerConnection`.
    public final var serverProperties: FieldTable { connection.serverProperties }

    /// Stays the same however often the channel is opened.
    final let number: UInt16
    /// The connection of now; the channel need not be open on it.
    final private(set) var wire: WireConnection?
    private let ownsConnection: Bool
    private var phase = Phase.detached
    private var backoff: Backoff
    private var retryTimer: TimerToken?
    private var deadlineTimer: TimerToken?
    private let readyWaiters = ContinuationList<AMQPError?>()
    private var closeWaiters: [UnsafeContinuation<Void, Never>] = []
    private var isClosing = false

    /// - Parameter ownsConnection: the connection is closed with the channel.
    init(on connection: BrokerConnection, ownsConnection: Bool) {
        self.connection = connection
        self.ownsConnection = ownsConnection
        loop = connection.loop
        backoff = Backoff(connection.configuration)
        number = connection.freeChannelNumber()
        connection.attach(self)
    }

    /// Starts the connection, if nobody has yet.
    public final func start() {
        connection.start()
    }

    /// Waits until the channel is ready.
    ///
    /// Throws the last failure when that takes longer than `deadlineSeconds`, and at once when only a change of the
    /// configuration can help: a refused login, a wrong certificate.
    public final func waitUntilReady(deadlineSeconds: Int) async throws(AMQPError) {
        loop.assertOnLoop()
        switch state {
        case .ready, .blocked: return
        case .closed: throw Self.closedByUs
        case .waiting(let error, _) where !error.isRetriable: throw error
        case .idle, .connecting, .waiting, .disconnected: break
        }
        if let failure = connection.failure, !failure.isRetriable { throw failure }
        let error = await readyWaiters.wait(on: loop, for: .seconds(deadlineSeconds)) { [self] in
            failure ?? AMQPError(.timedOut, "no broker after \(deadlineSeconds) seconds")
        }
        if let error { throw error }
    }

    /// Closes the channel, or with it the connection that was made for it, in order: what was handed over before is still
    /// sent. Returns after `deadlineSeconds` even if the broker has not answered.
    public final func close(deadlineSeconds: Int = 5) async {
        loop.assertOnLoop()
        if ownsConnection { return await connection.close(deadlineSeconds: deadlineSeconds) }
        guard state != .closed else { return }
        if !isClosing {
            isClosing = true
            switch phase {
            case .detached, .lost, .closed: return becomeClosed()
            case .opening, .settingUp, .ready:
                willClose()
                sendClose(Self.closedByUs)
            case .closing: cancelTimers()
            }
            deadlineTimer = loop.schedule(after: .seconds(deadlineSeconds)) { [self] in endClose() }
        }
        await withUnsafeContinuation { closeWaiters.append($0) }
    }

    static let closedByUs = AMQPError(.closed, "closed")

    /// Why the channel is not there, when something failed.
    final var failure: AMQPError? {
        if case .waiting(let error, _) = state { error } else { connection.failure }
    }

    final var isReady: Bool {
        if case .ready = phase { true } else { false }
    }

    @discardableResult
    final func send(_ method: ClientMethod) -> Bool {
        wire?.send(method, channel: number) ?? true
    }

    private func setState(_ new: BrokerState) {
        guard state != new else { return }
        state = new
        stateChanged()
        onStateChange(new)
        switch new {
        case .ready, .blocked: readyWaiters.resume(returning: nil)
        case .closed: readyWaiters.resume(returning: Self.closedByUs)
        case .waiting(let error, _): if !error.isRetriable { readyWaiters.resume(returning: error) }
        case .idle, .connecting, .disconnected: break
        }
    }

    private func open() {
        phase = .opening
        setState(.connecting(connection.endpoint))
        expectAnswer()
        send(.channelOpen)
    }

    /// Gives the channel up unless `becomeReady` or `answered` is called in time.
    final func expectAnswer() {
        guard deadlineTimer == nil else { return }
        let openingSeconds = connection.configuration.openingDeadlineSeconds
        let seconds = if case .closing = phase { closeSecondsMax } else { openingSeconds }
        deadlineTimer = loop.schedule(after: .seconds(seconds)) { [self] in
            deadlineTimer = nil
            guard let wire else { return }
            if wire.isPaused { return expectAnswer() }
            let error = AMQPError(.timedOut, "the broker did not answer within \(seconds) seconds")
            if case .closing = phase { wire.fail(error) } else { abandon(error) }
        }
    }

    final func answered() {
        if let deadlineTimer { loop.cancel(deadlineTimer) }
        deadlineTimer = nil
    }

    /// For the subclass: the channel is set up.
    final func becomeReady() {
        answered()
        phase = .ready
        backoff.becameReady(now: loop.now.monotonic)
        setState(readyState)
    }

    private var readyState: BrokerState {
        connection.blockedReason.map { .blocked(reason: $0) } ?? .ready
    }

    /// Makes the failure known and calls `next` after a delay.
    final func retry(after error: AMQPError, _ next: @escaping () -> Void) {
        let delay = backoff.failed(
            isRetriable: error.isRetriable, now: loop.now.monotonic, random: loop.nextRandom())
        retryTimer = loop.schedule(after: delay) { [self] in
            retryTimer = nil
            next()
        }
        setState(.waiting(error, delay: delay))
    }

    private func cancelTimers() {
        if let retryTimer { loop.cancel(retryTimer) }
        retryTimer = nil
        answered()
    }

    /// Leaves a channel on which the broker does not do its part, and opens it again.
    final func abandon(_ error: AMQPError) {
        switch phase {
        case .opening, .settingUp, .ready: break
        case .detached, .lost, .closing, .closed: return
        }
        sendClose(error)
        expectAnswer()
        retry(after: error) { [self] in reopen() }
    }

    /// Leaves a channel that is ready and opens another in its place at once.
    final func renew(_ error: AMQPError) {
        guard case .ready = phase else { return }
        sendClose(error)
        expectAnswer()
        setState(.connecting(connection.endpoint))
    }

    private func sendClose(_ error: AMQPError) {
        let wasOpen = isOpen
        cancelTimers()
        send(.channelClose)
        phase = .closing
        if wasOpen { channelLost(error) }
    }

    private var isOpen: Bool {
        switch phase {
        case .settingUp, .ready: true
        case .detached, .opening, .lost, .closing, .closed: false
        }
    }

    private func reopen() {
        switch phase {
        case .lost: open()
        // The answer to `channel.close` opens it.
        case .detached, .opening, .settingUp, .ready, .closing, .closed: break
        }
    }

    private func lose(_ error: AMQPError) {
        send(.channelCloseOK)
        phase = .lost
        cancelTimers()
        channelLost(error)
        guard !isClosing, !connection.isClosing else { return }
        guard !reopensAtOnce else { return open() }
        retry(after: error) { [self] in reopen() }
    }

    private func closeAnswered() {
        answered()
        phase = .lost
        if isClosing {
            becomeClosed()
        } else if retryTimer == nil, !connection.isClosing {
            open()
        }
    }

    /// The broker takes too long to answer the close; the channel's number stays taken until it does.
    private func endClose() {
        deadlineTimer = nil
        setState(.closed)
        resumeCloseWaiters()
    }

    final func becomeClosed() {
        cancelTimers()
        phase = .closed
        connection.detach(self)
        setState(.closed)
        // What it calls holds, as a rule, whoever owns this channel.
        onStateChange = { _ in }
        resumeCloseWaiters()
    }

    private func resumeCloseWaiters() {
        let waiters = closeWaiters
        closeWaiters = []
        for waiter in waiters { waiter.resume() }
    }

    final func connectionOpened(_ wire: WireConnection) {
        self.wire = wire
        guard number <= wire.channelMax else {
            let error = AMQPError(
                .refused, AMQPError.tooFewChannels(wire.channelMax, needed: connection.channelCount),
                isRetriable: false)
            return setState(.waiting(error, delay: .zero))
        }
        open()
    }

    final func connectionClosed(_ error: AMQPError) {
        let wasOpen = isOpen
        wire = nil
        cancelTimers()
        phase = .detached
        if wasOpen { channelLost(error) }
        if isClosing {
            becomeClosed()
        } else if !connection.isClosing {
            setState(.disconnected)
        }
    }

    /// Only somebody's hand can help.
    final func connectionCannotOpen(_ error: AMQPError) {
        readyWaiters.resume(returning: error)
    }

    final func connectionWillClose() {
        willClose()
        cancelTimers()
    }

    final func connectionBlocked() {
        switch state {
        case .ready, .blocked: setState(readyState)
        // Not while the channel has a trouble of its own.
        case .idle, .connecting, .waiting, .disconnected, .closed: break
        }
    }

    /// A method on this channel; `false` when it must not come now.
    final func received(_ method: ServerMethod) -> Bool {
        switch (phase, method) {
        case (.opening, .channelOpenOK):
            phase = .settingUp
            channelOpened()
            return true
        case (.settingUp, .channelClose(let close)), (.ready, .channelClose(let close)):
            lose(AMQPError(close))
            return true
        case (.settingUp, _), (.ready, _):
            return methodReceived(method)
        case (.closing, .channelCloseOK):
            closeAnswered()
            return true
        case (.closing, .channelClose):
            send(.channelCloseOK)
            return true
        case (.closing, _):
            return true
        case (.detached, _), (.opening, _), (.lost, _), (.closed, _):
            return false
        }
    }

    /// `basic.deliver` on this channel; `false` when it must not come now.
    final func received(_ delivery: ServerMethod.Delivery) -> Bool {
        switch phase {
        case .settingUp, .ready: deliveryReceived(delivery)
        case .closing: true
        case .detached, .opening, .lost, .closed: false
        }
    }

    /// A frame of content on this channel; `false` when it must not come now.
    final func receivedHeader(_ payload: UnsafeRawBufferPointer) -> Bool {
        if case .closing = phase { true } else { contentHeaderReceived(payload) }
    }

    final func receivedBody(_ payload: UnsafeRawBufferPointer) -> Bool {
        if case .closing = phase { true } else { contentBodyReceived(payload) }
    }

    /// The channel is open and new: set it up, then call `becomeReady`.
    func channelOpened() {}

    /// The channel is gone with all that was under way on it.
    func channelLost(_ error: AMQPError) {}

    /// A method on the open channel; `false` when it must not come now.
    func methodReceived(_ method: ServerMethod) -> Bool { false }

    /// `basic.deliver` on the open channel; `false` when it must not come now.
    func deliveryReceived(_ delivery: ServerMethod.Delivery) -> Bool { false }

    func contentHeaderReceived(_ payload: UnsafeRawBufferPointer) -> Bool { false }
    func contentBodyReceived(_ payload: UnsafeRawBufferPointer) -> Bool { false }

    /// `state` is another now; `closed` is the last.
    func stateChanged() {}

    /// What is due at the end of the turn, before the bytes leave.
    func willFlush() {}

    /// `close` was called; the channel may still be there.
    func willClose() {}

    /// How long the broker may take to answer the close of a channel that is to be opened again.
    var closeSecondsMax: Int { connection.configuration.openingDeadlineSeconds }

    /// Whether a channel that the broker closed is opened again without a delay.
    var reopensAtOnce: Bool { false }
}
