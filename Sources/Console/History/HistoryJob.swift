import EventLoop
import History
import SQLite

/// A query on the thread of the history's reader.
///
/// `@unchecked Sendable`: as `SQLiteJob`.
final class HistoryJob<Value>: SQLiteJob<HistoryReader>, @unchecked Sendable {
    private let body: (HistoryReader) throws(SQLiteError) -> Value
    private var completion: ((Result<Value, SQLiteError>) -> Void)?
    private var value: Value?

    init(
        on loop: EventLoop, _ body: @escaping (HistoryReader) throws(SQLiteError) -> Value,
        completed: @escaping (Result<Value, SQLiteError>) -> Void
    ) {
        self.body = body
        completion = completed
        super.init(on: loop)
    }

    override func run(_ reader: HistoryReader) throws(SQLiteError) { value = try body(reader) }

    override func completed(_ error: SQLiteError?) {
        // The thread may release the job last, but only the loop may release the objects that the closure retains.
        guard let completion = completion.take() else { return }
        guard error == nil, let value else {
            return completion(.failure(error ?? SQLiteError(.closed, "cannot read: the database is closed")))
        }
        completion(.success(value))
    }
}
