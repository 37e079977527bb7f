import PostgreSQL

/// A receiver that reads the rows of a statement with one closure, and passes the outcome to another.
final class PostgresClosureReceiver<Value>: StatementReceiver {
    private let report: (Result<Value, PostgresError>) -> Void
    private let read: (borrowing PostgresRows) throws(PostgresError) -> Value

    init(
        _ report: @escaping (Result<Value, PostgresError>) -> Void,
        read: @escaping (borrowing PostgresRows) throws(PostgresError) -> Value
    ) {
        (self.report, self.read) = (report, read)
    }

    override func completed(_ rows: borrowing PostgresRows) {
        let result: Result<Value, PostgresError>
        do throws(PostgresError) {
            result = .success(try read(rows))
        } catch {
            result = .failure(error)
        }
        report(result)
    }

    override func failed(_ error: PostgresError) { report(.failure(error)) }
}
