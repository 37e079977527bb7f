import EventLoop

/// A pipeline that orders statements, limits those in flight, and matches responses to them. Pure.
///
/// A Sync follows each statement, so an error affects no statement outside its transaction. Once the BEGIN of a
/// transaction is sent, other statements wait until its COMMIT or ROLLBACK is sent. The first error of a transaction
/// fails its later statements. The COMMIT of the transaction fails with that error. A COMMIT that is not sent yet
/// becomes a ROLLBACK.
struct StatementPipeline {
    enum Command {
        /// Sets the session's parameters, and reads whether the session accepts writes.
        case configure
        /// Deallocates all prepared statements.
        case deallocate
        case prepare(Int)
        case execute(Int, PostgresParameters)
        case begin
        case commit
        case rollBack
        /// A ROLLBACK in place of the COMMIT of a failed transaction.
        case abandon
    }

    struct Statement {
        var command: Command
        var receiver: StatementReceiver?
        /// The number of its transaction; nil outside transactions.
        var transaction: Int?
    }

    /// The responses to the first statement in flight.
    struct Responses {
        enum Phase {
            case awaitingResult
            case awaitingEnd
            case awaitingSync
        }

        var phase = Phase.awaitingResult
        var failure: PostgresError?
        var isRollback = false
    }

    struct Transaction {
        var waiting = FIFO<Statement>()
        var failure: PostgresError?
        /// Whether its COMMIT or ROLLBACK was added.
        var isEnding = false
    }

    private enum Unit {
        case statement(Statement)
        case transaction(Int)
    }

    /// Maximum number of statements in flight. More would only fill the buffers of client and server.
    static let inFlightMax = 64
    /// Maximum number of statements that wait to be sent. Preparations, COMMIT and ROLLBACK may exceed the limit.
    static let waitingMax = 4096
    static let transactionFailed = PostgresError(
        .transactionFailed, "an earlier statement of the transaction failed, or the transaction has ended")
    private static let queueFull = PostgresError(.queueFull, "\(waitingMax) statements wait for PostgreSQL")

    var inFlight = FIFO<Statement>()
    var responses = Responses()
    var transactions: [Int: Transaction] = [:]
    private var preparations = FIFO<Statement>()
    private var units = FIFO<Unit>()
    private var lastTransaction = 0
    /// The number of the transaction whose BEGIN is sent and whose COMMIT or ROLLBACK is not.
    private var current: Int?
    private(set) var waitingCount = 0
    /// The time at which the server last sent bytes, or at which a statement was last sent while none was in flight.
    private(set) var progressAt = MonotonicTime(nanoseconds: 0)

    /// Whether no statement is in flight or waits, and no transaction is open.
    var isDrained: Bool { inFlight.isEmpty && waitingCount == 0 && transactions.isEmpty }

    /// Returns the time by which the server must have sent bytes; nil if no statement is in flight.
    func deadline(_ limit: Duration) -> MonotonicTime? {
        inFlight.isEmpty ? nil : progressAt + limit
    }

    /// Returns whether the server has exceeded the limit. If the check itself is late by at least the limit, this
    /// process was probably suspended, perhaps together with the server. The limit then begins again.
    mutating func isOverdue(_ limit: Duration, _ now: MonotonicTime) -> Bool {
        guard let deadline = deadline(limit), deadline <= now else { return false }
        guard now < deadline + limit else {
            progressed(now)
            return false
        }
        return true
    }

    /// Adds a command that is sent after the current transaction and earlier preparations, but before other statements.
    mutating func prepare(_ command: Command) {
        preparations.append(Statement(command: command))
        waitingCount += 1
    }

    /// Adds a statement, in a transaction if one is given.
    ///
    /// - Throws: `queueFull` if `waitingMax` statements wait. `transactionFailed` if the transaction has failed or
    ///   ended.
    mutating func add(_ statement: Statement) throws(PostgresError) {
        guard waitingCount < Self.waitingMax else { throw Self.queueFull }
        if let number = statement.transaction {
            guard let transaction = transactions[number], transaction.failure == nil, !transaction.isEnding else {
                throw Self.transactionFailed
            }
            transactions[number]?.waiting.append(statement)
        } else {
            units.append(.statement(statement))
        }
        waitingCount += 1
    }

    /// Adds a transaction, and returns its number.
    ///
    /// - Throws: `queueFull` if `waitingMax` statements wait.
    mutating func begin() throws(PostgresError) -> Int {
        guard waitingCount < Self.waitingMax else { throw Self.queueFull }
        lastTransaction += 1
        var transaction = Transaction()
        transaction.waiting.append(Statement(command: .begin, transaction: lastTransaction))
        transactions[lastTransaction] = transaction
        units.append(.transaction(lastTransaction))
        waitingCount += 1
        return lastTransaction
    }

    /// Adds the COMMIT or ROLLBACK of a transaction, even if the transaction has failed or `waitingMax` statements
    /// wait.
    ///
    /// - Throws: `transactionFailed` if the transaction has ended already.
    mutating func end(_ statement: Statement) throws(PostgresError) {
        guard let number = statement.transaction, let transaction = transactions[number], !transaction.isEnding else {
            throw Self.transactionFailed
        }
        transactions[number]?.waiting.append(statement)
        transactions[number]?.isEnding = true
        waitingCount += 1
    }

    /// Returns the next statement to send; nil if none may be sent now. The caller must send a Sync after the
    /// statement.
    ///
    /// - Parameter now: Evaluated only if no statement is in flight.
    mutating func next(_ now: @autoclosure () -> MonotonicTime) -> Statement? {
        guard inFlight.count < Self.inFlightMax, let statement = removeNext() else { return nil }
        waitingCount -= 1
        if inFlight.isEmpty { progressAt = now() }
        inFlight.append(statement)
        return statement
    }

    private mutating func removeNext() -> Statement? {
        if let current { return removeNext(of: current) }
        if let preparation = preparations.popFirst() { return preparation }
        switch units.popFirst() {
        case .statement(let statement): return statement
        case .transaction(let number):
            current = number
            return removeNext(of: number)
        case nil: return nil
        }
    }

    private mutating func removeNext(of number: Int) -> Statement? {
        guard var statement = transactions[number]?.waiting.popFirst() else { return nil }
        switch statement.command {
        case .commit where transactions[number]?.failure != nil:
            statement.command = .abandon
            current = nil
        case .commit, .rollBack, .abandon: current = nil
        case .configure, .deallocate, .prepare, .execute, .begin: break
        }
        return statement
    }

    /// Records the first error of a transaction. Removes and returns its waiting statements, except COMMIT and
    /// ROLLBACK.
    mutating func fail(_ number: Int, _ error: PostgresError) -> [Statement] {
        guard var transaction = transactions[number] else { return [] }
        var kept = FIFO<Statement>()
        var removed: [Statement] = []
        while let statement = transaction.waiting.popFirst() {
            if case .execute = statement.command { removed.append(statement) } else { kept.append(statement) }
        }
        transaction.waiting = kept
        transaction.failure = error
        transactions[number] = transaction
        waitingCount -= removed.count
        return removed
    }

    /// Records the time at which the server sent bytes.
    mutating func progressed(_ now: MonotonicTime) { progressAt = now }

    /// Removes all statements and transactions. Returns all statements except waiting preparations, those in flight
    /// first.
    mutating func removeAll() -> [Statement] {
        var removed: [Statement] = []
        while let statement = inFlight.popFirst() { removed.append(statement) }
        for (_, var transaction) in transactions.sorted(by: { $0.key < $1.key }) {
            while let statement = transaction.waiting.popFirst() { removed.append(statement) }
        }
        while let unit = units.popFirst() {
            if case .statement(let statement) = unit { removed.append(statement) }
        }
        self = StatementPipeline()
        return removed
    }
}
