public import EventLoop

/// A connection to PostgreSQL that reconnects after every loss, until it is closed.
///
/// Each session prepares the statements after login. The connection sends executions in a pipeline at the end of the
/// event-loop iteration, and reports each outcome to a receiver.
///
/// Loop-bound. Callers use the connection only on its loop.
public final class PostgresConnection {
    /// The identifier of a transaction.
    public struct Transaction: Sendable, Hashable {
        let number: Int
        /// The number of the session to which the transaction belongs.
        let session: Int
    }

    public let loop: EpollLoop
    public private(set) var status = PostgresStatus.idle

    let configuration: PostgresConfiguration
    private var machine: PostgresConnectionMachine
    private var session: PostgresSession?
    /// The number of sessions so far.
    private var sessionCount = 0
    private var lookup: AddressLookup?
    /// The statements of ended sessions. The connection has not reported their failure yet.
    private var unfinished: [StatementPipeline.Statement] = []
    private var handler: PostgresConnectionHandler?
    private let timer: DeadlineTimer
    /// Events that wait until the current one is handled. Actions, and user code that they call, can cause events.
    private var events = FIFO<PostgresConnectionMachine.Event>()
    private var isHandling = false
    private let closeWaiters = ContinuationList<Void>()

    /// Loads libpq, unless the process has loaded it. Loading reads files. To keep that off the loop, call
    /// ``PostgresLibrary/load()`` before.
    ///
    /// - Throws: ``PostgresError`` of code `unavailable` if libpq cannot be loaded or is older than 14.
    public init(loop: EpollLoop, configuration: PostgresConfiguration) throws(PostgresError) {
        try PostgresLibrary.load()
        self.loop = loop
        self.configuration = configuration
        machine = PostgresConnectionMachine(
            hosts: configuration.endpoints.hosts, requiresWrites: configuration.requiresWrites,
            limits: configuration.limits)
        timer = DeadlineTimer(on: loop)
    }

    /// Connects, and reconnects after every loss until `close`. Later calls do nothing.
    public func start(_ handler: PostgresConnectionHandler? = nil) {
        loop.assertOnLoop()
        guard case .idle = machine.state else { return }
        self.handler = handler
        handle(.start)
    }

    /// Closes the connection after all statements and transactions are complete, at the latest after `deadlineSeconds`.
    /// Meanwhile only statements of open transactions are accepted.
    public func close(deadlineSeconds: Int = 5) async {
        loop.assertOnLoop()
        handle(.close(deadlineSeconds: deadlineSeconds))
        if case .closed = machine.state { return }
        await closeWaiters.wait()
    }

    /// The server's version, such as `15.18`; nil unless the connection is ready.
    public var serverVersion: String? {
        guard case .ready = machine.state, let session else { return nil }
        return PostgresLibrary.text(ofVersion: session.serverVersion)
    }

    /// Adds a statement to the pipeline, which sends it at the end of this iteration at the earliest.
    ///
    /// - Parameters:
    ///   - statement: the index in the configuration's statements.
    ///   - parameters: as many as the statement has.
    ///   - transaction: nil if the statement is its own transaction.
    /// - Throws: the reason why the connection is not ready. `queueFull` if 4,096 statements wait. `transactionFailed`
    ///   if the transaction has failed or ended. The receiver is not called then.
    public func execute(
        _ statement: Int, _ parameters: PostgresParameters, in transaction: Transaction? = nil,
        receiver: StatementReceiver
    ) throws(PostgresError) {
        precondition(
            configuration.statements[statement].parameters.count == parameters.count, "wrong number of parameters")
        let added = StatementPipeline.Statement(
            command: .execute(statement, parameters), receiver: receiver, transaction: transaction?.number)
        try session(of: transaction).add(added)
    }

    /// Begins a transaction. Later statements outside the transaction wait until its COMMIT or ROLLBACK is sent.
    ///
    /// - Throws: the reason why the connection is not ready, or `queueFull` if 4,096 statements wait.
    public func begin() throws(PostgresError) -> Transaction {
        let number = try session(of: nil).begin()
        return Transaction(number: number, session: sessionCount)
    }

    /// Commits a transaction. If one of its statements fails, the transaction is rolled back instead, and the receiver
    /// gets the first error.
    ///
    /// - Throws: the reason why the connection is not ready, or `transactionFailed` if the transaction has ended.
    public func commit(_ transaction: Transaction, receiver: StatementReceiver) throws(PostgresError) {
        let end = StatementPipeline.Statement(
            command: .commit, receiver: receiver, transaction: transaction.number)
        try session(of: transaction).end(end)
    }

    /// Rolls a transaction back.
    ///
    /// - Throws: the same errors as ``commit(_:receiver:)``.
    public func rollBack(_ transaction: Transaction, receiver: StatementReceiver? = nil) throws(PostgresError) {
        let end = StatementPipeline.Statement(
            command: .rollBack, receiver: receiver, transaction: transaction.number)
        try session(of: transaction).end(end)
    }

    private func session(of transaction: Transaction?) throws(PostgresError) -> PostgresSession {
        loop.assertOnLoop()
        switch machine.state {
        case .ready:
            guard let session else { throw PostgresHandle.lost }
            guard transaction.map({ $0.session == sessionCount }) ?? true else {
                throw StatementPipeline.transactionFailed
            }
            return session
        case .closing:
            guard let session, let transaction, transaction.session == sessionCount else {
                throw PostgresConnectionMachine.closedByUs
            }
            return session
        case .waiting(let error): throw error
        case .idle, .resolving, .connecting, .preparing:
            throw PostgresError(.unreachable, "the connection to PostgreSQL is not ready")
        case .closed: throw PostgresConnectionMachine.closedByUs
        }
    }

    func handle(_ event: PostgresConnectionMachine.Event) {
        events.append(event)
        guard !isHandling else { return }
        isHandling = true
        defer { isHandling = false }
        while let event = events.popFirst() {
            for action in machine.handle(event, now: loop.now.monotonic, random: loop.nextRandom) { perform(action) }
        }
    }

    func sessionFailed(_ error: PostgresError) { handle(.failed(error)) }

    func drained() {
        if case .closing = machine.state { handle(.drained) }
    }

    private func perform(_ action: PostgresConnectionMachine.Action) {
        switch action {
        case .resolve(let host): resolve(host)
        case .stopResolving:
            lookup?.cancel()
            lookup = nil
        case .connect(let target): connect(target)
        case .wait(let interest): session?.wait(for: interest)
        case .prepare: session?.prepare()
        case .prepareAgain: session?.prepareAgain()
        case .disconnect: disconnect()
        case .arm(let delay):
            timer.cancel()
            timer.arm(at: loop.now.monotonic + delay, for: self) { $0.handle(.timerFired) }
        case .cancelTimer: timer.cancel()
        case .awaitDrained: if session?.isDrained != false { handle(.drained) }
        case .report: report()
        case .failStatements(let error): failStatements(error)
        case .release: release()
        }
    }

    private func resolve(_ host: String) {
        lookup = AddressLookup(loop: loop, host: host) { [self] answer in
            lookup = nil
            switch answer {
            case .success(let addresses): handle(.resolved(addresses))
            case .failure(let error): handle(.resolveFailed(PostgresError(.unreachable, error.message)))
            }
        }
    }

    private func connect(_ target: ConnectionTarget) {
        guard let session = PostgresSession(owner: self, target: target) else {
            return handle(
                .failed(
                    PostgresError(
                        .unavailable,
                        "cannot connect to PostgreSQL: libpq is out of memory; check the memory of the machine")))
        }
        self.session = session
        sessionCount += 1
        session.connect()
    }

    private func disconnect() {
        guard let session else { return }
        unfinished += session.end()
        self.session = nil
    }

    private func failStatements(_ error: PostgresError) {
        let failed = unfinished
        unfinished = []
        for statement in failed { statement.receiver?.failed(error) }
    }

    private func report() {
        let new = PostgresStatus(machine.state)
        guard new != status else { return }
        status = new
        handler?.statusChanged(new)
    }

    private func release() {
        // The handler may retain this connection, which would be a reference cycle.
        handler = nil
        closeWaiters.resume(returning: ())
    }

    /// Closes libpq's connection after the loop has ended. Calls neither receivers nor the handler.
    func loopEnded() {
        disconnect()
        unfinished = []
        handler = nil
    }
}
