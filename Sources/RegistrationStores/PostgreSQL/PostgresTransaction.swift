import EventLoop
import PostgreSQL

/// One transaction on a connection. It reports its commit or its first error once, unless `rollBack` is called.
final class PostgresTransaction {
    private enum State {
        /// To: committing, ended.
        case open((Result<Void, PostgresError>) -> Void)
        /// A transaction whose COMMIT is added. To: ended.
        case committing((Result<Void, PostgresError>) -> Void)
        case ended
    }

    private let connection: PostgresConnection
    private let transaction: PostgresConnection.Transaction
    private var state: State

    /// Begins a transaction.
    ///
    /// - Parameter report: Receives the outcome. Not called after `rollBack`.
    /// - Throws: the reason why the connection is not ready, or `queueFull`. `report` is not called then.
    init(
        on connection: PostgresConnection, report: @escaping (Result<Void, PostgresError>) -> Void
    ) throws(PostgresError) {
        self.connection = connection
        transaction = try connection.begin()
        state = .open(report)
    }

    /// Adds a statement. Calls `read` with the rows of the statement if they arrive before `commit` or `rollBack` is
    /// called. An error that `read` throws fails the transaction.
    func execute(
        _ statement: PostgresWriterStatement, _ parameters: PostgresParameters,
        _ read: @escaping (borrowing PostgresRows) throws(PostgresError) -> Void = { _ in }
    ) {
        guard case .open(let report) = state else { return }
        let receiver = PostgresClosureReceiver<Void>(
            { [self] result in
                if case .failure(let error) = result { fail(error) }
            },
            read: { [self] rows throws(PostgresError) in
                if case .open = state { try read(rows) }
            })
        do throws(PostgresError) {
            try connection.execute(statement.rawValue, parameters, in: transaction, receiver: receiver)
        } catch {
            rollBack()
            // Report the error later, because the caller is not prepared for an outcome during its call.
            connection.loop.later { report(.failure(error)) }
        }
    }

    func commit() {
        guard case .open(let report) = state else { return }
        state = .committing(report)
        let receiver = PostgresClosureReceiver<Void>({ [self] result in end(result) }, read: { _ in })
        do throws(PostgresError) {
            try connection.commit(transaction, receiver: receiver)
        } catch {
            connection.loop.later { [self] in end(.failure(error)) }
        }
    }

    func rollBack() {
        guard case .open = state else { return }
        state = .ended
        // An error means that the transaction has ended with its session.
        try? connection.rollBack(transaction)
    }

    /// Rolls the transaction back and reports the error. After `commit`, the COMMIT reports the first error instead.
    private func fail(_ error: PostgresError) {
        guard case .open(let report) = state else { return }
        rollBack()
        report(.failure(error))
    }

    private func end(_ result: Result<Void, PostgresError>) {
        guard case .committing(let report) = state else { return }
        state = .ended
        report(result)
    }
}
