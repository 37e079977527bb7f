import CRabbitMQ
public import EventLoop

/// How a client stands with the broker.
public enum BrokerClientState: Sendable, Hashable {
    /// `start` has not been called.
    case idle
    case connecting(Endpoint)
    /// Connected and set up.
    case ready
    /// Connected, but the broker takes no publishes for now (a memory or disk alarm): its reason.
    case blocked(reason: String)
    /// Something failed: what, and when it is tried again.
    case waiting(AMQPError, delay: Duration)
    case closed
}

/// A connection that is opened again whenever it is lost, until it is closed: what consumer, publisher and administration
/// have in common.
///
/// Belongs to one loop and is used on its thread only.
public class BrokerClient {
    private enum Phase {
        /// Before the first connection and between two. To: loggingIn.
        case disconnected
        /// To: openingChannel, disconnected.
        case loggingIn
        /// To: settingUp, disconnected.
        case openingChannel
        /// The subclass sets the channel up. To: ready, withoutChannel, disconnected.
        case settingUp
        /// To: withoutChannel, disconnected.
        case ready
        /// The channel was lost, the connection was not. To: openingChannel, disconnected.
        case withoutChannel
    }

    public final let loop: EventLoop
    public final private(set) var state = BrokerClientState.idle
    /// Called on the loop at each change of `state`.
    public final var onStateChange: (BrokerClientState) -> Void = { _ in }
    /// What the broker says it is: `product`, `version`, its capabilities. Empty until the first login.
    public final private(set) var serverProperties = FieldTable()

    private let configuration: ConnectionConfiguration
    /// In the order in which they are tried.
    private let connectors: [ByteConnector]
    private var nextConnector = 0
    private var endpoint: Endpoint
    private var backoff: Backoff
    private var phase = Phase.disconnected
    private var retryTimer: TimerToken?
    private var deadlineTimer: TimerToken?
    private var closeTimer: TimerToken?
    /// Why the broker takes no publishes on this connection.
    private var blockedReason: String?
    private var readyWaiters: [ReadyWaiter] = []
    private var closeWaiters: [UnsafeContinuation<Void, Never>] = []
    private var isClosing = false
    final private(set) var connection: Connection?

    private final class ReadyWaiter {
        var continuation: UnsafeContinuation<AMQPError?, Never>?

        func resume(_ error: AMQPError?) {
            continuation?.resume(returning: error)
            continuation = nil
        }
    }

    /// - Parameter connectors: one for each host of the broker's cluster, at least one; tried in random order.
    init(loop: EventLoop, connectors: [ByteConnector], configuration: ConnectionConfiguration) {
        precondition(!connectors.isEmpty, "a client needs a broker to connect to")
        self.loop = loop
        self.configuration = configuration
        self.connectors = Self.shuffled(connectors, loop)
        endpoint = connectors[0].endpoint
        backoff = Backoff(
            first: .milliseconds(configuration.retryDelayMilliseconds),
            longest: .milliseconds(configuration.retryDelayMillisecondsMax),
            healthyAfter: .seconds(configuration.healthyAfterSeconds))
    }

    private static func shuffled(_ connectors: [ByteConnector], _ loop: EventLoop) -> [ByteConnector] {
        var connectors = connectors
        for index in connectors.indices.dropFirst() {
            connectors.swapAt(index, Int(loop.nextRandom() % UInt64(index + 1)))
        }
        return connectors
    }

    /// Connects, and keeps connected until `close`. Must be called once.
    public final func start() {
        loop.assertOnLoop()
        guard case .idle = state else { return }
        connect()
    }

    /// Waits until the client is ready.
    ///
    /// Throws the last failure when that takes longer than `deadlineSeconds`, and at once when only a change of the
    /// configuration can help: a refused login, a wrong certificate.
    public final func waitUntilReady(deadlineSeconds: Int) async throws(AMQPError) {
        loop.assertOnLoop()
        switch state {
        case .ready, .blocked: return
        case .closed: throw AMQPError(.closed, "closed")
        case .waiting(let error, _) where !error.isRetriable: throw error
        case .idle, .connecting, .waiting: break
        }
        let waiter = ReadyWaiter()
        let timer = loop.schedule(after: .seconds(deadlineSeconds)) { [self] in
            waiter.resume(lastFailure ?? AMQPError(.timedOut, "no broker after \(deadlineSeconds) seconds"))
        }
        readyWaiters.append(waiter)
        let error = await withUnsafeContinuation { waiter.continuation = $0 }
        loop.cancel(timer)
        if let error { throw error }
    }

    /// Ends the connection in order: what was handed over before is still sent. After `deadlineSeconds` without the
    /// broker's answer the connection is reset.
    public final func close(deadlineSeconds: Int = 5) async {
        loop.assertOnLoop()
        guard state != .closed else { return }
        if !isClosing {
            isClosing = true
            cancelTimers()
            willClose()
            guard let connection else { return becomeClosed() }
            closeTimer = loop.schedule(after: .seconds(deadlineSeconds)) {
                connection.fail(AMQPError(.timedOut, "the broker did not answer the close"))
            }
            connection.close()
        }
        await withUnsafeContinuation { closeWaiters.append($0) }
    }

    private var lastFailure: AMQPError? {
        if case .waiting(let error, _) = state { error } else { nil }
    }

    private func setState(_ new: BrokerClientState) {
        guard state != new else { return }
        state = new
        stateChanged()
        onStateChange(new)
        switch new {
        case .ready, .blocked: resumeReadyWaiters(nil)
        case .closed: resumeReadyWaiters(AMQPError(.closed, "closed"))
        case .waiting(let error, _): if !error.isRetriable { resumeReadyWaiters(error) }
        case .idle, .connecting: break
        }
    }

    private func resumeReadyWaiters(_ error: AMQPError?) {
        let waiters = readyWaiters
        readyWaiters = []
        for waiter in waiters { waiter.resume(error) }
    }

    private func connect() {
        let connector = connectors[nextConnector]
        nextConnector = (nextConnector + 1) % connectors.count
        endpoint = connector.endpoint
        let connection = Connection(configuration: configuration, owner: self, loop: loop)
        self.connection = connection
        phase = .loggingIn
        expectReady()
        setState(.connecting(endpoint))
        connection.open(connector)
    }

    /// Ends the connection unless `becomeReady` is called in time.
    final func expectReady() {
        guard deadlineTimer == nil else { return }
        let seconds = configuration.openingDeadlineSeconds
        deadlineTimer = loop.schedule(after: .seconds(seconds)) { [self] in
            deadlineTimer = nil
            guard let connection else { return }
            if connection.isPaused { return expectReady() }
            connection.fail(AMQPError(.timedOut, "the broker did not answer within \(seconds) seconds"))
        }
    }

    private func openChannel() {
        guard let connection else { return }
        phase = .openingChannel
        connection.send(amqp_channel_open_t(out_of_band: amqp_bytes_t()))
    }

    /// For the subclass: the channel is set up.
    final func becomeReady() {
        if let deadlineTimer { loop.cancel(deadlineTimer) }
        deadlineTimer = nil
        phase = .ready
        backoff.becameReady(now: loop.now.monotonic)
        setState(readyState)
    }

    private var readyState: BrokerClientState {
        blockedReason.map { .blocked(reason: $0) } ?? .ready
    }

    final var isReady: Bool {
        if case .ready = phase { true } else { false }
    }

    /// For the subclass: tells of a failure and returns how long to wait before `next` is called.
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
        if let deadlineTimer { loop.cancel(deadlineTimer) }
        retryTimer = nil
        deadlineTimer = nil
    }

    private func becomeClosed() {
        setState(.closed)
        // What it calls holds, as a rule, whoever owns this client.
        onStateChange = { _ in }
        let waiters = closeWaiters
        closeWaiters = []
        for waiter in waiters { waiter.resume() }
    }

    final func connectionOpened() {
        serverProperties = connection?.serverProperties ?? FieldTable()
        openChannel()
    }

    /// A method on the channel; `false` when it must not come now.
    final func received(_ method: ServerMethod) -> Bool {
        switch (phase, method) {
        case (.openingChannel, .channelOpenOK):
            phase = .settingUp
            channelOpened()
            return true
        case (.settingUp, .channelClose(let close)), (.ready, .channelClose(let close)):
            loseChannel(AMQPError(replyCode: close.reply_code, replyText: close.reply_text.string))
            return true
        case (.settingUp, _), (.ready, _):
            return channelReceived(method)
        case (.disconnected, _), (.loggingIn, _), (.openingChannel, _), (.withoutChannel, _):
            return false
        }
    }

    private func loseChannel(_ error: AMQPError) {
        connection?.send(amqp_channel_close_ok_t())
        phase = .withoutChannel
        cancelTimers()
        channelLost(error)
        guard !isClosing else { return }
        guard !reopensChannelAtOnce else { return reopenChannel() }
        retry(after: error) { [self] in reopenChannel() }
    }

    private func reopenChannel() {
        setState(.connecting(endpoint))
        expectReady()
        openChannel()
    }

    /// The broker stopped taking publishes, or takes them again.
    final func connectionBlocked(_ reason: String?) {
        blockedReason = reason
        if isReady, !isClosing { setState(readyState) }
    }

    final func connectionClosed(_ error: AMQPError) {
        connection = nil
        blockedReason = nil
        cancelTimers()
        if let closeTimer { loop.cancel(closeTimer) }
        switch phase {
        case .settingUp, .ready: channelLost(error)
        case .disconnected, .loggingIn, .openingChannel, .withoutChannel: break
        }
        phase = .disconnected
        guard !isClosing else { return becomeClosed() }
        retry(after: error) { [self] in connect() }
    }

    /// The channel is open and new: set it up, then call `becomeReady`.
    func channelOpened() {}

    /// The channel is gone with all that was under way on it.
    func channelLost(_ error: AMQPError) {}

    /// A method on the open channel; `false` when it must not come now.
    func channelReceived(_ method: ServerMethod) -> Bool { false }

    /// A frame of content on the open channel; `false` when it must not come now.
    func receivedContentHeader(_ payload: UnsafeRawBufferPointer) -> Bool { false }
    func receivedContentBody(_ payload: UnsafeRawBufferPointer) -> Bool { false }

    /// `state` is another now; `closed` is the last.
    func stateChanged() {}

    /// What is due at the end of the turn, before the bytes leave.
    func connectionWillFlush() {}

    /// `close` was called; the connection is still there.
    func willClose() {}

    /// Whether a channel that the broker closed is opened again without a delay.
    var reopensChannelAtOnce: Bool { false }
}
