import EventLoop

/// A pure state machine that decides when one channel of a connection opens, fails, reopens and closes.
///
/// An error on a channel closes only this channel, which then reopens, usually after a delay. `lose` and `report` are
/// the last actions for an event, because they may run code of the handler that closes the channel.
struct ChannelMachine {
    /// The state of the channel. Each case lists its possible next states after "To:".
    enum State: Equatable {
        /// A channel whose connection has not opened yet. To: opening, refused, detached, closed.
        case idle
        /// A channel whose connection is lost or closing. To: opening, refused, closed.
        case detached
        /// The wait for the answer to `channel.open`. To: settingUp, closing, detached.
        case opening
        /// The setup of the channel by the handler. To: open, interrupted, opening, reopening, closing, detached.
        case settingUp
        /// An open channel whose setup is complete. To: interrupted, opening, reopening, closing, detached.
        case open
        /// An open channel on which the broker ended the handler's operation, such as its consumer. The handler
        /// retries. To: open, opening, reopening, closing, detached.
        case interrupted(Retry)
        /// A closed channel on an open connection, before the next attempt to open it. To: opening, detached, closed.
        case reopening(Retry)
        /// A channel whose number exceeds the broker's limit. To: detached, closed.
        case refused(AMQPError)
        /// The wait for the answer to `channel.close`. Every frame before the answer is ignored, except the broker's
        /// own `channel.close`, which is answered. To: opening, reopening, unanswered, detached, closed.
        case closing(then: Reopen)
        /// A channel that is closed for its handler. The broker has not answered, so the channel number stays in use.
        /// To: closed.
        case unanswered
        case closed
    }

    /// The decision whether and when the channel reopens after the answer to `channel.close`.
    enum Reopen: Equatable {
        case never
        case atOnce
        case after(Retry)
    }

    private(set) var state = State.idle
    private let openingSeconds: Int
    private let closeSecondsMax: Int
    private let reopensImmediately: Bool
    private var backoff: Backoff

    init(_ options: ChannelOptions, _ configuration: ConnectionConfiguration) {
        openingSeconds = configuration.openingDeadlineSeconds
        closeSecondsMax = options.closeSecondsMax ?? openingSeconds
        reopensImmediately = options.reopensImmediately
        backoff = Backoff(configuration)
    }

    /// Whether the handler may use the channel.
    var isOpen: Bool {
        switch state {
        case .settingUp, .open, .interrupted: true
        case .idle, .detached, .opening, .reopening, .refused, .closing, .unanswered, .closed: false
        }
    }

    var isSetUp: Bool {
        switch state {
        case .open, .interrupted: true
        case .idle, .detached, .opening, .settingUp, .reopening, .refused, .closing, .unanswered, .closed: false
        }
    }

    /// Whether the channel is set up and the handler's operation is not interrupted.
    var isReady: Bool {
        if case .open = state { true } else { false }
    }

    /// Whether frames on the channel are ignored, except `channel.close` and `channel.close-ok`.
    var isClosing: Bool {
        switch state {
        case .closing, .unanswered: true
        case .idle, .detached, .opening, .settingUp, .open, .interrupted, .reopening, .refused, .closed: false
        }
    }

    /// Updates the state after an event, and returns the actions to perform, in order.
    ///
    /// - Parameter reopens: whether the channel may reopen; false while the connection closes for good.
    mutating func handle(
        _ event: Event, reopens: Bool, now: MonotonicTime, random: () -> UInt64
    ) -> [Action] {
        switch event {
        case .connectionOpened: return openFirst()
        case .connectionRefused(let error): return refuse(error)
        case .connectionLost(let error): return connectionLost(error)
        case .connectionReleased: return state == .closed ? [] : end()
        case .openAnswered:
            guard state == .opening else { return [] }
            state = .settingUp
            return [.setUp]
        case .setupCompleted:
            guard isOpen else { return [] }
            state = .open
            backoff.becameReady(now: now)
            return [.cancelDeadline, .report]
        case .interrupted(let error):
            guard isOpen else { return [] }
            state = .interrupted(backoff.retry(after: error, now: now, random: random()))
            return [.report]
        case .closedByBroker(let error):
            if isClosing { return [.send(.channelCloseOK)] }
            return isOpen ? lose(error, reopens, now, random) : []
        case .closeAnswered: return closeAnswered(reopens, now)
        case .abandon(let error): return isOpen || state == .opening ? abandon(error, reopens, now, random) : []
        case .renew(let error):
            guard isSetUp else { return [] }
            state = .closing(then: .atOnce)
            return [.send(.channelClose), .armDeadline(seconds: closeSecondsMax), .lose(error), .report]
        case .deadlinePassed(let isPaused): return deadlinePassed(isPaused, reopens, now, random)
        case .retryDue: return retryDue()
        case .close(let seconds): return close(seconds)
        }
    }

    private mutating func openFirst() -> [Action] {
        switch state {
        case .idle, .detached: return open()
        case .opening, .settingUp, .open, .interrupted, .reopening, .refused, .closing, .unanswered, .closed: return []
        }
    }

    private mutating func refuse(_ error: AMQPError) -> [Action] {
        switch state {
        case .idle, .detached:
            state = .refused(error)
            return [.report]
        case .opening, .settingUp, .open, .interrupted, .reopening, .refused, .closing, .unanswered, .closed: return []
        }
    }

    private mutating func retryDue() -> [Action] {
        switch state {
        case .reopening: return open()
        // In `closing`, the answer to `channel.close` reopens the channel.
        case .idle, .detached, .opening, .settingUp, .open, .interrupted, .refused, .closing, .unanswered, .closed:
            return []
        }
    }

    private mutating func closeAnswered(_ reopens: Bool, _ now: MonotonicTime) -> [Action] {
        switch state {
        case .closing(.never), .unanswered:
            return end()
        case .closing where !reopens:
            state = .detached
            return [.cancelDeadline, .cancelRetry]
        case .closing(.after(let retry)) where now < retry.at:
            state = .reopening(retry)
            return [.cancelDeadline]
        case .closing:
            return open()
        case .idle, .detached, .opening, .settingUp, .open, .interrupted, .reopening, .refused, .closed:
            return []
        }
    }

    private mutating func deadlinePassed(
        _ isPaused: Bool, _ reopens: Bool, _ now: MonotonicTime, _ random: () -> UInt64
    ) -> [Action] {
        switch state {
        case .closing(.never):
            state = .unanswered
            return [.report]
        case .closing:
            let seconds = closeSecondsMax
            return [isPaused ? .armDeadline(seconds: seconds) : .failConnection(Self.unanswered(seconds))]
        case .opening, .settingUp, .open, .interrupted:
            let seconds = openingSeconds
            return isPaused
                ? [.armDeadline(seconds: seconds)] : abandon(Self.unanswered(seconds), reopens, now, random)
        case .idle, .detached, .reopening, .refused, .unanswered, .closed:
            return []
        }
    }

    private mutating func connectionLost(_ error: AMQPError) -> [Action] {
        switch state {
        case .closing(.never), .unanswered: return end()
        case .closed: return []
        case .idle, .detached, .opening, .settingUp, .open, .interrupted, .reopening, .refused, .closing:
            let losses: [Action] = isOpen ? [.lose(error)] : []
            state = .detached
            return [.cancelDeadline, .cancelRetry] + losses + [.report]
        }
    }

    private mutating func close(_ seconds: Int) -> [Action] {
        switch state {
        case .idle, .detached, .reopening, .refused:
            return end()
        case .opening, .settingUp, .open, .interrupted:
            let losses: [Action] = isOpen ? [.lose(ConnectionMachine.closedByUs)] : []
            state = .closing(then: .never)
            return [.send(.channelClose), .armDeadline(seconds: seconds)] + losses
        case .closing(.never), .unanswered, .closed:
            return []
        case .closing:
            state = .closing(then: .never)
            return [.cancelRetry, .armDeadline(seconds: seconds)]
        }
    }

    private mutating func open() -> [Action] {
        state = .opening
        return [.send(.channelOpen), .armDeadline(seconds: openingSeconds), .report]
    }

    private mutating func lose(
        _ error: AMQPError, _ reopens: Bool, _ now: MonotonicTime, _ random: () -> UInt64
    ) -> [Action] {
        guard reopens else {
            state = .detached
            return [.send(.channelCloseOK), .cancelDeadline, .lose(error)]
        }
        guard !reopensImmediately else {
            state = .opening
            return [
                .send(.channelCloseOK), .send(.channelOpen), .armDeadline(seconds: openingSeconds), .lose(error),
                .report,
            ]
        }
        let retry = backoff.retry(after: error, now: now, random: random())
        state = .reopening(retry)
        return [.send(.channelCloseOK), .cancelDeadline, .armRetry(retry.at), .lose(error), .report]
    }

    private mutating func abandon(
        _ error: AMQPError, _ reopens: Bool, _ now: MonotonicTime, _ random: () -> UInt64
    ) -> [Action] {
        guard reopens else { return [] }
        let losses: [Action] = isOpen ? [.lose(error)] : []
        let retry = backoff.retry(after: error, now: now, random: random())
        state = .closing(then: .after(retry))
        return [.send(.channelClose), .armDeadline(seconds: closeSecondsMax), .armRetry(retry.at)] + losses + [.report]
    }

    private mutating func end() -> [Action] {
        state = .closed
        return [.cancelDeadline, .cancelRetry, .detach, .report]
    }

    private static func unanswered(_ seconds: Int) -> AMQPError {
        AMQPError(.timedOut, "the broker did not answer within \(seconds) s")
    }
}
