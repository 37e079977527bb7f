import EventLoop
import SQLite

/// A job on the thread of a history.
///
/// `@unchecked Sendable`: as `SQLiteJob`.
final class IndexerJob<Value>: SQLiteJob<HistoryWriter>, @unchecked Sendable {
    private let body: (HistoryWriter) throws(SQLiteError) -> Value
    private let completion: (Result<Value, SQLiteError>) -> Void
    private var value: Value?

    init(
        on loop: EventLoop, _ body: @escaping (HistoryWriter) throws(SQLiteError) -> Value,
        completed: @escaping (Result<Value, SQLiteError>) -> Void
    ) {
        self.body = body
        completion = completed
        super.init(on: loop)
    }

    override func run(_ writer: HistoryWriter) throws(SQLiteError) { value = try body(writer) }

    override func completed(_ error: SQLiteError?) {
        guard error == nil, let value else {
            return completion(.failure(error ?? SQLiteError(.closed, "cannot index: the database is closed")))
        }
        completion(.success(value))
    }
}
