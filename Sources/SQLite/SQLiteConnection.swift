import CSQLite

/// One connection of libsqlite3. One thread at a time uses it. Other threads may call only `interrupt`.
final class SQLiteConnection {
    let path: String
    /// The handle of libsqlite3; nil once the connection is closed.
    private var handle: OpaquePointer?

    /// Opens the file. SQLite reads it only when the first statement runs.
    ///
    /// - Throws: ``SQLiteError`` if SQLite cannot open the file.
    init(_ path: String, flags: Int32, busyMillisecondsMax: Int32) throws(SQLiteError) {
        self.path = path
        var handle: OpaquePointer?
        // SQLite gives a special meaning to names such as ":memory:", but not to paths that name a folder.
        let name = path.hasPrefix("/") ? path : "./" + path
        // The connection needs no lock of its own, because one thread uses it.
        let result = martlet_sqlite_open(name, &handle, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE)
        guard result == SQLITE_OK, let handle else {
            let systemError = handle.map { martlet_sqlite_system_errno($0) } ?? 0
            // A failed open usually leaves a connection that must be closed.
            _ = martlet_sqlite_close(handle)
            throw SQLiteError(result: result, systemError: systemError, path: path)
        }
        self.handle = handle
        _ = martlet_sqlite_busy_timeout(handle, busyMillisecondsMax)
    }

    deinit { precondition(handle == nil, "an SQLite connection must be closed") }

    /// The handle. Traps if the connection is closed.
    var open: OpaquePointer {
        guard let handle else { preconditionFailure("the SQLite connection is closed") }
        return handle
    }

    /// Finalizes all statements and closes the connection.
    func close() {
        let handle = open
        // An interrupt remains in effect until a statement begins. Without this statement, the interrupt would keep
        // SQLite from moving the WAL into the database.
        _ = martlet_sqlite_exec(handle, "SELECT 1")
        while let statement = martlet_sqlite_any_statement(handle) { _ = martlet_sqlite_finalize(statement) }
        let result = martlet_sqlite_close(handle)
        precondition(result == SQLITE_OK, "an SQLite connection has statements after all were finalized")
        self.handle = nil
    }

    /// Interrupts the running statement. Callable from any thread until `close` is called.
    func interrupt() { martlet_sqlite_interrupt(open) }

    /// Returns the error for a result code. Call it right after the failed call.
    func error(_ result: Int32) -> SQLiteError {
        SQLiteError(result: result, systemError: martlet_sqlite_system_errno(open), path: path)
    }

    /// Runs statements that are separated by semicolons, and ignores their rows.
    func execute(_ sql: StaticString) throws(SQLiteError) {
        try execute(text: UnsafeRawPointer(sql.utf8Start).assumingMemoryBound(to: CChar.self))
    }

    /// Runs statements in which SQLite accepts no parameters, such as PRAGMA, and ignores their rows.
    func execute(text: UnsafePointer<CChar>) throws(SQLiteError) {
        let result = martlet_sqlite_exec(open, text)
        guard result == SQLITE_OK else { throw error(result) }
    }

    /// Runs a statement once, and returns what `read` returns for its first row; nil if there is no row.
    func first<Value>(
        _ sql: StaticString, _ read: (borrowing SQLiteRow) throws(SQLiteError) -> Value
    ) throws(SQLiteError) -> Value? {
        let statement = try SQLiteStatement(sql, on: self)
        defer { statement.finalize() }
        return try statement.firstRow(read)
    }

    /// Whether a transaction is open. SQLite itself rolls back after some errors.
    var isInTransaction: Bool { martlet_sqlite_is_autocommit(open) == 0 }

    var changes: Int { Int(martlet_sqlite_changes(open)) }

    /// Whether the path no longer names the open file.
    var hasMoved: Bool { martlet_sqlite_has_moved(open) != 0 }
}
