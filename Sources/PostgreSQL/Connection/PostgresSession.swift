import EventLoop

/// One connection of libpq, from the attempt to connect until its end. It polls, sends and reads on the loop.
/// `PostgresConnectionMachine` and `StatementPipeline` make the decisions.
final class PostgresSession: ByteStreamHandler {
    /// The statement that sets parameters of the session, and reads whether the session accepts writes. PgBouncer
    /// refuses these parameters at login.
    ///
    /// `enable_seqscan` is off because the generic plan of a small table remains in use while the table grows. The
    /// isolation level is set because a database or role may have another default.
    private static let configure = """
        SELECT current_setting('transaction_read_only'), set_config('search_path', '', false),
        set_config('statement_timeout', $1, false), set_config('lock_timeout', $2, false),
        set_config('idle_in_transaction_session_timeout', $3, false),
        set_config('plan_cache_mode', 'force_generic_plan', false), set_config('enable_seqscan', 'off', false),
        set_config('default_transaction_isolation', 'read committed', false)
        """

    private let owner: PostgresConnection
    private let loop: EpollLoop
    private let configuration: PostgresConfiguration
    private let handle: PostgresHandle
    /// The names of the prepared statements, by index.
    private let names: [String]
    private let answers: DeadlineTimer
    private var pipeline = StatementPipeline()
    private var watch: DescriptorWatch?
    /// The result of the first statement in flight, until its outcome is known.
    private var kept: PostgresRows?
    /// The number of commands that must complete before all statements are prepared.
    private var preparationsLeft = 0
    private var acceptsWrites = true
    private var isEnded = false

    /// Returns nil if memory is exhausted. Call `connect()` next.
    init?(owner: PostgresConnection, target: ConnectionTarget) {
        guard let handle = PostgresHandle(target, owner.configuration) else { return nil }
        self.owner = owner
        self.handle = handle
        loop = owner.loop
        configuration = owner.configuration
        names = configuration.statements.indices.map { "m\($0)" }
        answers = DeadlineTimer(on: loop)
    }

    var serverVersion: Int { handle.serverVersion }

    /// Whether no statement is in flight or waits, and no transaction is open.
    var isDrained: Bool { pipeline.isDrained }

    /// Closes the connection. Returns the statements that have no outcome yet.
    func end() -> [StatementPipeline.Statement] {
        isEnded = true
        watch?.end()
        watch = nil
        answers.cancel()
        kept = nil
        handle.finish()
        return pipeline.removeAll()
    }

    private func fail(_ error: PostgresError) {
        guard !isEnded else { return }
        isEnded = true
        owner.sessionFailed(error)
    }

    private func act(on events: DescriptorWatch.Events, _ action: @escaping () -> Void) {
        watch = DescriptorWatch(
            loop: loop, descriptor: handle.descriptor, for: events, action: action,
            abandoned: { [owner] in owner.loopEnded() })
        if watch == nil { fail(PostgresHandle.lost) }
    }

    // MARK: Connecting

    /// Reports a failed start, or waits until the socket is writable. libpq requires that before the first poll.
    func connect() {
        if let error = handle.startFailure { fail(error) } else { owner.handle(.connectWaits(.writable)) }
    }

    private func poll() {
        // libpq may replace its socket.
        watch?.end()
        watch = nil
        switch handle.poll() {
        case .waits(let interest): owner.handle(.connectWaits(interest))
        case .connected: owner.handle(.connected)
        case .failed(let error): fail(error)
        }
    }

    func wait(for interest: PostgresConnectionMachine.Interest) {
        act(on: interest == .readable ? .readable : .writable) { [self] in poll() }
    }

    /// Begins to read results, sets the session's parameters, and prepares the statements.
    func prepare() {
        act(on: .readable) { [self] in readable() }
        pipeline.prepare(.configure)
        prepareStatements()
    }

    func prepareAgain() {
        pipeline.prepare(.deallocate)
        prepareStatements()
    }

    private func prepareStatements() {
        for index in configuration.statements.indices { pipeline.prepare(.prepare(index)) }
        preparationsLeft = configuration.statements.count + 1
        loop.flushAfterIteration(self)
    }

    private func prepared(_ rows: borrowing PostgresRows, _ command: StatementPipeline.Command) {
        if case .configure = command {
            do {
                acceptsWrites = try rows.value(String.self, row: 0, column: 0) == "off"
            } catch {
                return fail(error)
            }
        }
        preparationsLeft -= 1
        if preparationsLeft == 0 { owner.handle(.prepared(acceptsWrites: acceptsWrites)) }
    }

    // MARK: Statements

    func add(_ statement: StatementPipeline.Statement) throws(PostgresError) {
        try pipeline.add(statement)
        loop.flushAfterIteration(self)
    }

    func begin() throws(PostgresError) -> Int {
        let number = try pipeline.begin()
        loop.flushAfterIteration(self)
        return number
    }

    func end(_ statement: StatementPipeline.Statement) throws(PostgresError) {
        try pipeline.end(statement)
        loop.flushAfterIteration(self)
    }

    /// Sends the statements that may be sent now.
    override func flush() {
        while !isEnded, let statement = pipeline.next(now) {
            guard send(statement) else { return fail(PostgresHandle.lost) }
        }
        flushOutput()
    }

    private func send(_ statement: StatementPipeline.Statement) -> Bool {
        let isSent =
            switch statement.command {
            case .configure: handle.send(Self.configure, settings)
            case .deallocate: handle.send("DEALLOCATE ALL")
            case .prepare(let index): handle.sendPrepare(names[index], configuration.statements[index])
            case .execute(let index, let parameters): handle.sendPrepared(names[index], parameters)
            case .begin: handle.send("BEGIN")
            case .commit: handle.send("COMMIT")
            case .rollBack, .abandon: handle.send("ROLLBACK")
            }
        guard isSent else { return false }
        if pipeline.inFlight.count == 1, !beginHead() { return false }
        return handle.sendSync()
    }

    private var settings: PostgresParameters {
        var settings = PostgresParameters()
        let limits = configuration.limits
        for milliseconds in [
            limits.statementMillisecondsMax, limits.lockMillisecondsMax, limits.idleTransactionMillisecondsMax,
        ] {
            settings.append("\(milliseconds)")
        }
        return settings
    }

    /// Chooses how libpq delivers the result of the first statement in flight. Returns false if libpq refuses.
    private func beginHead() -> Bool {
        guard case .execute(let index, _)? = pipeline.inFlight.first?.command,
            case .rowByRow = configuration.statements[index].delivery
        else { return true }
        return handle.deliverRowByRow()
    }

    private func flushOutput() {
        guard !isEnded else { return }
        switch handle.flush() {
        case 0: watch?.change(to: .readable)
        case 1: watch?.change(to: [.readable, .writable])
        default: return fail(PostgresHandle.lost)
        }
        armAnswers()
    }

    /// The current time. The time of the iteration would count a long iteration as time of the server.
    private var now: MonotonicTime { EpollLoop.readMonotonicClock() }

    private var answerLimit: Duration { .milliseconds(configuration.limits.answerMillisecondsMax) }

    private func armAnswers() {
        guard let deadline = pipeline.deadline(answerLimit) else { return }
        answers.arm(at: deadline, for: self) { $0.answersDue() }
    }

    private func answersDue() {
        guard !isEnded else { return }
        // Use the time of the iteration. Its events, which may include a response, arrived before that time.
        if pipeline.isOverdue(answerLimit, loop.now.monotonic) {
            fail(PostgresError(.timedOut, "the server did not answer a statement in time"))
        } else {
            armAnswers()
        }
    }

    // MARK: Results

    private func readable() {
        repeat {
            guard handle.readInput() else { return fail(PostgresHandle.lost) }
            pipeline.progressed(now)
            readResults()
        } while !isEnded && handle.hasPendingInput
        guard !isEnded else { return }
        if pipeline.isDrained { owner.drained() }
        // The responses may allow more statements to be sent, and the socket may be writable.
        loop.flushAfterIteration(self)
    }

    private func readResults() {
        while !isEnded, !pipeline.inFlight.isEmpty, !handle.isBusy {
            switch handle.nextResult() {
            case .rows(let rows):
                let isRollback = rows.isRollback
                if perform(.result(isRollback: isRollback)) { kept = consume rows }
            case .row(let rows):
                if case .reportRow(let receiver) = pipeline.received(.row) {
                    receiver?.received(row: rows)
                } else {
                    outOfOrder()
                }
            case .failed(let error): _ = perform(.failed(error))
            case .end: _ = perform(.end)
            case .sync:
                _ = perform(.sync)
                if !isEnded, !beginHead() { outOfOrder() }
            case .broken: fail(PostgresHandle.lost)
            }
        }
    }

    /// Passes a response to the pipeline, and performs the action. Returns whether to keep the result.
    private func perform(_ response: StatementPipeline.Response) -> Bool {
        switch pipeline.received(response) {
        case .none, .reportRow: break
        case .keepResult: return true
        case .complete(let statement): complete(statement)
        case .fail(let statement, let error, let unsent): failed(statement, error, unsent)
        case .outOfOrder: outOfOrder()
        }
        return false
    }

    private func outOfOrder() {
        fail(PostgresError(.protocolViolation, "libpq reported a result that no statement awaits"))
    }

    private func complete(_ statement: StatementPipeline.Statement) {
        guard let rows = kept.take() else { return outOfOrder() }
        switch statement.command {
        case .configure, .deallocate, .prepare: prepared(rows, statement.command)
        case .execute, .begin, .commit, .rollBack, .abandon: statement.receiver?.completed(rows)
        }
    }

    private func failed(
        _ statement: StatementPipeline.Statement, _ error: PostgresError, _ unsent: [StatementPipeline.Statement]
    ) {
        kept = nil
        switch statement.command {
        case .configure, .deallocate, .prepare: return fail(error)
        case .execute, .begin, .commit, .rollBack, .abandon: break
        }
        statement.receiver?.failed(error)
        for statement in unsent { statement.receiver?.failed(StatementPipeline.transactionFailed) }
        switch error.outcome {
        case .stalePlan: owner.handle(.planOutdated)
        // The server became a standby, or its settings now refuse writes. Another host may accept writes.
        case .readOnly where configuration.requiresWrites: fail(error)
        case .unreachable, .refused, .databaseMissing, .privilegeMissing, .schema, .sharedSession, .full, .data, .retry,
            .readOnly, .lockTimeout, .other:
            break
        }
    }
}
