import EventLoop
import PostgreSQL
import Registrations

/// Work that consists of one statement, from its call until its outcome. Subclasses provide the parameters, read the
/// rows, and receive the outcome.
class PostgresStatementWork<Value>: StatementReceiver {
    private let statement: Int
    private let connection: PostgresStoreConnection
    private var repeats = PostgresRepeats()

    /// Creates the work.
    ///
    /// - Parameter statement: The index of the prepared statement.
    init(_ statement: Int, on connection: PostgresStoreConnection) {
        (self.statement, self.connection) = (statement, connection)
        super.init()
        connection.workBegan()
    }

    var parameters: PostgresParameters { fatalError("parameters must be overridden") }

    func read(_ rows: borrowing PostgresRows) throws(PostgresError) -> Value { fatalError("read must be overridden") }

    func completed(with value: Value) { fatalError("completed must be overridden") }

    func failed(_ fault: StoreFault) { fatalError("failed must be overridden") }

    final func begin() {
        if let fault = connection.fault { return fail(fault) }
        do throws(PostgresError) {
            try connection.connection.execute(statement, parameters, receiver: self)
        } catch {
            fail(StoreFault(error))
        }
    }

    final override func completed(_ rows: borrowing PostgresRows) {
        do throws(PostgresError) {
            let value = try read(rows)
            connection.workEnded()
            completed(with: value)
        } catch {
            fail(StoreFault(error))
        }
    }

    final override func failed(_ error: PostgresError) {
        if repeats.repeats(after: error) { begin() } else { fail(StoreFault(error)) }
    }

    /// Reports the fault after the call that caused it has returned.
    final func fail(_ fault: StoreFault) {
        connection.loop.later { [self] in
            connection.workEnded()
            failed(fault)
        }
    }
}
