import EventLoop

/// A state machine that decides how a connection to PostgreSQL opens, prepares, retries and closes. Pure.
///
/// A round attempts the addresses of all hosts until a session is ready. If the round fails or the connection is lost,
/// the next round follows after a delay, until the connection is closed.
struct PostgresConnectionMachine {
    enum State: Hashable {
        /// Before `start`. To: resolving, connecting, closed.
        case idle
        /// To: resolving (next host), connecting, waiting, closed.
        case resolving(PostgresHost, ConnectionRound)
        /// The opening of a connection to one address. To: connecting (next address or host), resolving (next host),
        /// preparing, waiting, closed.
        case connecting(ConnectionTarget, ConnectionRound)
        /// The preparation of the session, which sets its parameters and prepares the statements. To: ready,
        /// connecting, resolving, waiting, closed.
        case preparing(ConnectionTarget, ConnectionRound)
        /// A ready session. `isPreparing` is true while the session prepares its statements again. To: waiting,
        /// closing.
        case ready(ConnectionTarget, isPreparing: Bool)
        /// The delay after a failed round, or after the loss of the connection. To: resolving, connecting, closed.
        case waiting(PostgresError)
        /// A connection after `close`. Statements or transactions may remain. To: closed.
        case closing
        case closed
    }

    /// The state of the socket that libpq waits for while it connects.
    enum Interest: Hashable {
        case readable
        case writable
    }

    enum Event: Hashable {
        case start
        case resolved([String])
        case resolveFailed(PostgresError)
        /// A wait of libpq until the socket is readable or writable.
        case connectWaits(Interest)
        case connected
        /// The end of the preparation of all statements.
        case prepared(acceptsWrites: Bool)
        /// The failure of a statement because its plan is outdated.
        case planOutdated
        /// The failure of the session or of its opening. The session sends no later event.
        case failed(PostgresError)
        /// The end of the timer of `arm`.
        case timerFired
        case close(deadlineSeconds: Int)
        /// A connection without statements in flight, waiting statements and open transactions.
        case drained
    }

    enum Action: Hashable {
        case resolve(host: String)
        case stopResolving
        case connect(ConnectionTarget)
        case wait(Interest)
        /// Sets the session's parameters and prepares the statements. `prepared` or `failed` follows.
        case prepare
        /// Prepares the statements again. `prepared` or `failed` follows.
        case prepareAgain
        /// Closes libpq's connection.
        case disconnect
        /// Sends `timerFired` after this time. Replaces the previous timer.
        case arm(Duration)
        case cancelTimer
        /// Sends `drained` once no statement and no transaction remains.
        case awaitDrained
        /// Reports the status if it has changed.
        case report
        /// Reports the error to the receivers of all statements without an outcome.
        case failStatements(PostgresError)
        /// Releases the handler, and resumes the tasks that wait in `close`.
        case release
    }

    static let closedByUs = PostgresError(.closed, "the connection to PostgreSQL is closed")

    private(set) var state = State.idle
    private let hosts: [PostgresHost]
    private let requiresWrites: Bool
    private let limits: PostgresConfiguration.Limits
    private var lastGood: ConnectionTarget?
    private var backoff: Backoff

    init(hosts: [PostgresHost], requiresWrites: Bool, limits: PostgresConfiguration.Limits) {
        self.hosts = hosts
        self.requiresWrites = requiresWrites
        self.limits = limits
        backoff = Backoff(
            least: .milliseconds(limits.retryMillisecondsMin), first: .milliseconds(limits.retryMilliseconds),
            longest: .milliseconds(limits.retryMillisecondsMax), healthyAfter: .seconds(limits.healthyAfterSeconds))
    }

    mutating func handle(_ event: Event, now: MonotonicTime, random: () -> UInt64) -> [Action] {
        switch (state, event) {
        case (.idle, .start), (.waiting, .timerFired):
            return nextHost(ConnectionRound(hosts: hosts, lastGood: lastGood), now, random) + [.report]
        case (.resolving(let host, var round), .resolved(let addresses)):
            round.resolved(host, to: addresses, lastGood: lastGood)
            return nextTarget(round, now, random)
        case (.resolving(let host, var round), .resolveFailed(let error)):
            round.failed(error.at(host))
            return nextHost(round, now, random)
        case (.resolving(let host, var round), .timerFired):
            round.failed(PostgresError(.timedOut, "the name service did not answer in time").at(host))
            return [.stopResolving] + nextHost(round, now, random)
        case (.connecting, .connectWaits(let interest)):
            return [.wait(interest)]
        case (.connecting(let target, let round), .connected):
            state = .preparing(target, round)
            return [.cancelTimer, .prepare]
        case (.connecting(let target, let round), .timerFired):
            return attemptFailed(
                PostgresError(.timedOut, "the server did not accept the connection in time"), target, round, now, random
            )
        case (.connecting(let target, let round), .failed(let error)),
            (.preparing(let target, let round), .failed(let error)):
            return attemptFailed(error, target, round, now, random)
        case (.preparing(let target, let round), .prepared(let acceptsWrites)):
            guard acceptsWrites || !requiresWrites else {
                return attemptFailed(
                    PostgresError(.readOnly, "the server accepts no writes"), target, round, now, random)
            }
            state = .ready(target, isPreparing: false)
            lastGood = target
            backoff.becameReady(now: now)
            return [.report]
        case (.ready(let target, isPreparing: false), .planOutdated):
            state = .ready(target, isPreparing: true)
            return [.prepareAgain]
        case (.ready(let target, isPreparing: true), .prepared):
            state = .ready(target, isPreparing: false)
            return []
        case (.ready(let target, _), .failed(let error)):
            let located = error.at(target.host)
            return [.disconnect] + wait(after: located, now, random) + [.failStatements(located)]
        case (.ready, .close(let seconds)):
            state = .closing
            return [.arm(.seconds(seconds)), .report, .awaitDrained]
        case (.closing, .drained), (.closing, .timerFired):
            return close(failing: Self.closedByUs)
        case (.closing, .failed(let error)):
            return close(failing: error)
        case (.idle, .close), (.waiting, .close), (.connecting, .close), (.preparing, .close):
            return close(failing: Self.closedByUs)
        case (.resolving, .close):
            return [.stopResolving] + close(failing: Self.closedByUs)
        case (.idle, _), (.resolving, _), (.connecting, _), (.preparing, _), (.ready, _), (.waiting, _), (.closing, _),
            (.closed, _):
            return []
        }
    }

    private mutating func attemptFailed(
        _ error: PostgresError, _ target: ConnectionTarget, _ round: ConnectionRound, _ now: MonotonicTime,
        _ random: () -> UInt64
    ) -> [Action] {
        var round = round
        round.failed(error.at(target.host))
        return [.disconnect] + nextTarget(round, now, random)
    }

    private mutating func nextTarget(
        _ round: ConnectionRound, _ now: MonotonicTime, _ random: () -> UInt64
    ) -> [Action] {
        var round = round
        guard let target = round.nextTarget() else { return nextHost(round, now, random) }
        state = .connecting(target, round)
        return [.arm(.milliseconds(limits.connectMillisecondsMax)), .connect(target)]
    }

    private mutating func nextHost(
        _ round: ConnectionRound, _ now: MonotonicTime, _ random: () -> UInt64
    ) -> [Action] {
        var round = round
        guard let host = round.nextHost() else {
            return wait(after: round.error ?? PostgresError(.unreachable, "no host has an address"), now, random)
        }
        switch host {
        case .tcp(let endpoint):
            state = .resolving(host, round)
            return [.arm(.milliseconds(limits.resolveMillisecondsMax)), .resolve(host: endpoint.host)]
        case .socket:
            round.targets = [ConnectionTarget(host: host, address: nil)]
            return nextTarget(round, now, random)
        }
    }

    private mutating func wait(
        after error: PostgresError, _ now: MonotonicTime, _ random: () -> UInt64
    ) -> [Action] {
        state = .waiting(error)
        return [.arm(backoff.failed(isRetriable: error.isRetriable, now: now, random: random())), .report]
    }

    private mutating func close(failing error: PostgresError) -> [Action] {
        state = .closed
        return [.cancelTimer, .disconnect, .failStatements(error), .report, .release]
    }
}
