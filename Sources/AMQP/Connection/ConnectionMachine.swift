import EventLoop

/// A pure state machine that decides when a connection to a broker opens, logs in, retries and closes.
///
/// After a loss, the connection opens again at the next endpoint, until `close`. Actions that may run code of the
/// handlers follow all actions that depend on the state.
struct ConnectionMachine {
    /// The state of the connection. Each case lists its possible next states after "To:".
    enum State {
        /// The state before `start`. To: connecting, closed.
        case idle
        /// The opening of the stream. To: loggingIn, waiting, closing.
        case connecting(Endpoint)
        /// The login on an open stream. To: open, waiting, closing.
        case loggingIn(Endpoint, Handshake)
        /// An open connection. `blocked` is the reason why the broker accepts no publishes; nil if the broker accepts
        /// publishes. To: waiting, closing.
        case open(Endpoint, blocked: String?)
        /// A connection that this side closed and whose stream has not ended yet. To: closed.
        case closing
        /// A failed connection before the next attempt. To: connecting, closed.
        case waiting(Retry)
        case closed
    }

    enum Event {
        case start
        case streamOpened
        /// A step of the login.
        case login(Handshake.Event)
        /// `connection.blocked` with its reason; nil means `connection.unblocked`.
        case blocked(String?)
        /// `connection.close`
        case closedByBroker(AMQPError)
        /// `connection.close-ok`
        case closeAnswered
        /// The end of the stream. No other event of this stream follows.
        case streamEnded(AMQPError)
        case deadlinePassed
        case retryDue
        case close(deadlineSeconds: Int)
    }

    enum Action: Equatable {
        /// An attempt to connect to the endpoint with this index.
        case connect(Int)
        case send(ClientMethod)
        /// The application of the agreed limits of frames, channels and heartbeats.
        case agree(Handshake.Tuning)
        case openChannels
        /// A status report of each channel, after the broker began or stopped accepting publishes.
        case reviewChannels
        /// The sending of the channels' remaining output before a close.
        case flushChannels
        case loseChannels(AMQPError)
        /// The resumption of reading, even if channels have paused it.
        case resumeReading
        /// The graceful close of the stream.
        case finish(AMQPError)
        case reset(AMQPError)
        case armDeadline(seconds: Int)
        case armRetry(MonotonicTime)
        case cancelTimers
        /// A report of the status if it has changed.
        case report
        /// A report of the close, and the release of the channels, the handler and the tasks that wait for the close.
        case release
    }

    static let closedByUs = AMQPError(.closed, "closed")

    private(set) var state = State.idle
    let configuration: ConnectionConfiguration
    private let endpoints: [Endpoint]
    private var nextEndpoint = 0
    private var backoff: Backoff

    /// Creates a machine in the state `idle`.
    ///
    /// - Parameter endpoints: at least one, in the order of the attempts.
    init(configuration: ConnectionConfiguration, endpoints: [Endpoint]) {
        self.configuration = configuration
        self.endpoints = endpoints
        backoff = Backoff(configuration)
    }

    /// Whether the login succeeded, this side has not closed the connection, and the stream has not ended.
    var isOpen: Bool {
        if case .open = state { true } else { false }
    }

    /// Whether the connection is open, and the broker accepts publishes on it.
    var acceptsPublishes: Bool {
        if case .open(_, blocked: nil) = state { true } else { false }
    }

    /// Whether the connection is closed or about to close for good.
    var isClosing: Bool {
        switch state {
        case .closing, .closed: true
        case .idle, .connecting, .loggingIn, .open, .waiting: false
        }
    }

    mutating func handle(_ event: Event, now: MonotonicTime, random: () -> UInt64) -> [Action] {
        switch (state, event) {
        case (.idle, .start), (.waiting, .retryDue):
            return connect()
        case (.connecting(let endpoint), .streamOpened):
            state = .loggingIn(endpoint, Handshake(configuration))
            return [.armDeadline(seconds: configuration.openingDeadlineSeconds)]
        case (.loggingIn(let endpoint, var handshake), .login(let step)):
            let action = handshake.handle(step)
            state = .loggingIn(endpoint, handshake)
            return perform(action, endpoint, now)
        case (.open, .login), (.closing, .login):
            return [
                .reset(AMQPError(.protocolViolation, "the broker sent a login method out of order", isRetriable: false))
            ]
        case (.open(let endpoint, _), .blocked(let reason)):
            state = .open(endpoint, blocked: reason)
            return [.report, .reviewChannels]
        case (.loggingIn, .closedByBroker(let error)), (.open, .closedByBroker(let error)),
            (.closing, .closedByBroker(let error)):
            return [.send(.connectionCloseOK), .finish(error)]
        case (.closing, .closeAnswered):
            return [.finish(Self.closedByUs)]
        case (.loggingIn, .closeAnswered), (.open, .closeAnswered):
            return [.reset(AMQPError(.protocolViolation, "the broker sent a method out of order"))]
        case (.loggingIn, .deadlinePassed):
            let seconds = configuration.openingDeadlineSeconds
            return [.reset(AMQPError(.timedOut, "the broker did not answer within \(seconds) s"))]
        case (.closing, .deadlinePassed):
            return [.reset(AMQPError(.timedOut, "the broker did not answer the close"))]
        case (.connecting, .streamEnded(let reason)), (.loggingIn, .streamEnded(let reason)),
            (.open, .streamEnded(let reason)):
            let error = inContext(reason)
            let retry = backoff.retry(after: error, now: now, random: random())
            state = .waiting(retry)
            return [.cancelTimers, .armRetry(retry.at), .loseChannels(error), .report]
        case (.closing, .streamEnded):
            state = .closed
            return [.cancelTimers, .loseChannels(Self.closedByUs), .release]
        case (.idle, .close), (.waiting, .close):
            state = .closed
            return [.cancelTimers, .release]
        case (.connecting, .close(let seconds)), (.loggingIn, .close(let seconds)):
            state = .closing
            return [.cancelTimers, .flushChannels, .armDeadline(seconds: seconds), .reset(Self.closedByUs)]
        case (.open, .close(let seconds)):
            state = .closing
            return [
                .cancelTimers, .flushChannels, .armDeadline(seconds: seconds), .send(.connectionClose), .resumeReading,
            ]
        case (.idle, _), (.connecting, _), (.loggingIn, _), (.open, _), (.closing, _), (.waiting, _), (.closed, _):
            return []
        }
    }

    private mutating func connect() -> [Action] {
        let index = nextEndpoint
        nextEndpoint = (index + 1) % endpoints.count
        state = .connecting(endpoints[index])
        return [.connect(index), .report]
    }

    private mutating func perform(_ action: Handshake.Action, _ endpoint: Endpoint, _ now: MonotonicTime) -> [Action] {
        switch action {
        case .sendStartOK(let mechanism):
            return [.send(configuration.startOK(mechanism))]
        case .sendTuneOKAndOpen(let tuning):
            return [
                .agree(tuning), .send(.connectionTuneOK(tuning)),
                .send(.connectionOpen(virtualHost: configuration.virtualHost)),
            ]
        case .ready:
            state = .open(endpoint, blocked: nil)
            backoff.becameReady(now: now)
            return [.cancelTimers, .openChannels, .report]
        case .fail(let error):
            return [.reset(error)]
        }
    }
}
