import CSQLite

/// A prepared statement. It is valid until its file is closed.
///
/// Parameters are numbered from 1. Bind them, and then run the statement. Unbound parameters are NULL, and each run
/// removes all bound values. Call the methods only on the thread of the file. They trap after the file is closed.
public final class SQLiteStatement {
    private enum State {
        /// A statement that is not running. The value is the result of the first failed bind, or `SQLITE_OK`.
        case binding(Int32)
        case running
    }

    private let connection: SQLiteConnection
    private let handle: OpaquePointer
    private var state = State.binding(SQLITE_OK)

    /// Prepares a statement.
    ///
    /// - Throws: ``SQLiteError``, for example of code `statement` if a table or column is missing.
    init(_ sql: StaticString, on connection: SQLiteConnection) throws(SQLiteError) {
        self.connection = connection
        var handle: OpaquePointer?
        let bytes = UnsafeRawPointer(sql.utf8Start).assumingMemoryBound(to: CChar.self)
        let result = martlet_sqlite_prepare(connection.open, bytes, Int32(sql.utf8CodeUnitCount) + 1, &handle)
        guard result == SQLITE_OK else { throw connection.error(result) }
        guard let handle else { preconditionFailure("cannot prepare a statement: it has no SQL") }
        self.handle = handle
    }

    /// Releases the statement before its file is closed. Call no other method afterward.
    func finalize() { _ = martlet_sqlite_finalize(handle) }

    // MARK: Parameters. A run throws the error of the first bind that failed.

    /// Binds an integer; NULL if `value` is nil.
    public func bind(_ parameter: Int, int64 value: Int64?) {
        bind { value.map { martlet_sqlite_bind_int64(handle, Int32(parameter), $0) } ?? null(parameter) }
    }

    /// Binds a floating-point number; NULL if `value` is nil. SQLite stores NaN as NULL.
    public func bind(_ parameter: Int, double value: Double?) {
        bind { value.map { martlet_sqlite_bind_double(handle, Int32(parameter), $0) } ?? null(parameter) }
    }

    /// Binds a copy of `text`; NULL if it is nil.
    public func bind(_ parameter: Int, text: String?) {
        guard var text else { return bindNull(parameter) }
        text.withUTF8 { bytes in
            bind {
                bytes.withMemoryRebound(to: CChar.self) {
                    martlet_sqlite_bind_text(handle, Int32(parameter), $0.baseAddress, Int32(clamping: $0.count), 1)
                }
            }
        }
    }

    /// Binds a copy of `blob`.
    public func bind(_ parameter: Int, blob: UnsafeRawBufferPointer) {
        bind(parameter, blob, copies: true)
    }

    /// Binds a copy of `blob`; NULL if it is nil.
    public func bind(_ parameter: Int, blob: [UInt8]?) {
        guard let blob else { return bindNull(parameter) }
        blob.withUnsafeBytes { bind(parameter, $0, copies: true) }
    }

    /// Binds `blob` without copying it. Its bytes must stay valid until the run has returned.
    public func bind(_ parameter: Int, borrowedBlob blob: UnsafeRawBufferPointer) {
        bind(parameter, blob, copies: false)
    }

    public func bindNull(_ parameter: Int) { bind { null(parameter) } }

    private func null(_ parameter: Int) -> Int32 { martlet_sqlite_bind_null(handle, Int32(parameter)) }

    private func bind(_ parameter: Int, _ blob: UnsafeRawBufferPointer, copies: Bool) {
        bind {
            // SQLite refuses a blob of `Int32.max` bytes, since its default limit is 1 GB.
            let count = Int32(clamping: blob.count)
            return martlet_sqlite_bind_blob(handle, Int32(parameter), blob.baseAddress, count, copies ? 1 : 0)
        }
    }

    private func bind(_ value: () -> Int32) {
        guard case .binding(let first) = state else {
            preconditionFailure("cannot bind a value: the statement is running")
        }
        _ = connection.open
        let result = value()
        precondition(result != SQLITE_RANGE, "cannot bind a value: the statement has no such parameter")
        if first == SQLITE_OK { state = .binding(result) }
    }

    // MARK: Runs

    /// Runs the statement to its end, and ignores rows.
    ///
    /// - Returns: the number of rows that an INSERT, UPDATE or DELETE has changed. Undefined for other statements.
    /// - Throws: ``SQLiteError``.
    @discardableResult
    public func run() throws(SQLiteError) -> Int {
        try forEachRow { _ throws(SQLiteError) in }
        return connection.changes
    }

    /// Runs the statement, and calls `body` with each row. `body` must not bind or run this statement.
    ///
    /// - Throws: ``SQLiteError``, and the errors of `body`, which end the run.
    public func forEachRow(_ body: (borrowing SQLiteRow) throws(SQLiteError) -> Void) throws(SQLiteError) {
        defer { end() }
        try begin()
        while try step() { try body(SQLiteRow(handle)) }
    }

    /// Runs the statement up to its first row, and returns what `body` returns for it; nil if there is no row.
    ///
    /// - Throws: ``SQLiteError``, and the errors of `body`.
    public func firstRow<Value>(
        _ body: (borrowing SQLiteRow) throws(SQLiteError) -> Value
    ) throws(SQLiteError) -> Value? {
        defer { end() }
        try begin()
        return try step() ? try body(SQLiteRow(handle)) : nil
    }

    private func begin() throws(SQLiteError) {
        guard case .binding(let result) = state else {
            preconditionFailure("cannot run the statement: it is already running")
        }
        _ = connection.open
        state = .running
        guard result == SQLITE_OK else { throw connection.error(result) }
    }

    private func end() {
        martlet_sqlite_reset(handle)
        state = .binding(SQLITE_OK)
    }

    private func step() throws(SQLiteError) -> Bool {
        let result = martlet_sqlite_step(handle)
        switch result {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        default: throw connection.error(result)
        }
    }
}
