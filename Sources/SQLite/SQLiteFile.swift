import CSQLite
import Glibc

/// A database file, open on one thread. Transactions are in WAL mode: readers see the last commit, and never wait for a
/// writer.
///
/// Methods may be called on the thread that opened the file only, unless they state otherwise, and block for input and
/// output. Close the file before it is released.
public final class SQLiteFile {
    public enum Access: Sendable {
        /// Creates the file if it is missing, and migrates it. One process at a time has this access.
        case readWrite
        /// The file must exist, with the version of the schema.
        case readOnly
    }

    /// The mode of files that this process creates. SQLite gives its own files beside the database the same mode.
    static let mode: mode_t = 0o640
    /// The size to which the WAL is cut after a checkpoint.
    static let walBytesMax = 64 << 20
    /// How long a file that is open for reading waits while another process recovers or closes it. A writer does not
    /// wait, since no other process writes.
    static let readerBusyMillisecondsMax: Int32 = 1000

    public let path: String
    public let access: Access
    private let connection: SQLiteConnection
    private var lock: SQLiteWriterLock?
    private let transactions: SQLiteTransactions

    /// Opens a file. A commit is on the disk when it returns (`synchronous = FULL`), the bytes of deleted rows are
    /// overwritten (`secure_delete`), and foreign keys are not enforced.
    ///
    /// - Throws: ``SQLiteError``: `unavailable`, `cannotOpen`, `missing`, `readOnly`, `inUse`, `foreign`, `newerVersion`,
    ///   `olderVersion`, `corrupt`, `full`, or another error of SQLite.
    public static func open(_ path: String, _ access: Access, schema: SQLiteSchema) throws(SQLiteError) -> SQLiteFile {
        try SQLiteLibrary.load()
        switch access {
        case .readWrite:
            let lock = try SQLiteWriterLock(of: path)
            try createIfMissing(path)
            let connection = try SQLiteConnection(path, flags: SQLITE_OPEN_READWRITE, busyMillisecondsMax: 0)
            return try SQLiteFile(connection, lock) { connection throws(SQLiteError) in
                try connection.migrate(to: schema)
            }
        case .readOnly:
            guard Glibc.access(path, F_OK) == 0 || errno != ENOENT else {
                throw SQLiteError(.missing, "cannot open \(path): the file does not exist")
            }
            let connection = try SQLiteConnection(
                path, flags: SQLITE_OPEN_READONLY, busyMillisecondsMax: readerBusyMillisecondsMax)
            return try SQLiteFile(connection, nil) { connection throws(SQLiteError) in
                try connection.requireVersion(of: schema)
            }
        }
    }

    /// Closes the connection if it cannot be prepared.
    private init(
        _ connection: SQLiteConnection, _ lock: consuming SQLiteWriterLock?,
        _ prepare: (SQLiteConnection) throws(SQLiteError) -> Void
    ) throws(SQLiteError) {
        path = connection.path
        access = lock == nil ? .readOnly : .readWrite
        self.connection = connection
        do {
            try prepare(connection)
            transactions = try SQLiteTransactions(connection, access)
        } catch {
            connection.close()
            throw error
        }
        self.lock = consume lock
    }

    /// Creates a missing file with ``mode``, since SQLite would let all users read it. SQLite opens a file without the
    /// permission to write for reading only, so this is checked here.
    ///
    /// Does not open an existing file: closing its descriptor would end the locks of this process's other connections.
    private static func createIfMissing(_ path: String) throws(SQLiteError) {
        let descriptor = Glibc.open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
        if descriptor >= 0 {
            Glibc.close(descriptor)
        } else if errno != EEXIST || Glibc.access(path, R_OK | W_OK) != 0 {
            throw SQLiteError(cannotOpen: path, errno: errno)
        }
    }

    /// Prepares a statement. Statements end with the file.
    ///
    /// - Throws: ``SQLiteError`` of code `statement` if a table or column is missing.
    public func prepare(_ sql: StaticString) throws(SQLiteError) -> SQLiteStatement {
        try SQLiteStatement(sql, on: connection)
    }

    /// Runs statements without parameters and rows, separated by semicolons.
    ///
    /// - Throws: ``SQLiteError``; the statements before the failed one have run.
    public func execute(_ sql: StaticString) throws(SQLiteError) {
        try connection.execute(sql)
    }

    /// Runs `body` in a transaction, and commits. Rolls back if `body` or the commit fails. Not for nested calls.
    ///
    /// A file that is open for reading only sees one state of the database during `body`.
    ///
    /// - Throws: ``SQLiteError``, and the errors of `body`.
    public func transaction<Value>(_ body: () throws(SQLiteError) -> Value) throws(SQLiteError) -> Value {
        try transactions.begin.run()
        do throws(SQLiteError) {
            let value = try body()
            try transactions.commit.run()
            return value
        } catch {
            rollBack()
            throw error
        }
    }

    /// Runs `body` within a transaction. If `body` fails, reverts its changes and keeps those before it. May be nested.
    ///
    /// - Throws: ``SQLiteError``, and the errors of `body`. After an error that is not caused by data, the whole
    ///   transaction may be rolled back: then ``isInTransaction`` is false.
    public func savepoint<Value>(_ body: () throws(SQLiteError) -> Value) throws(SQLiteError) -> Value {
        try transactions.savepoint.run()
        do throws(SQLiteError) {
            let value = try body()
            try transactions.release.run()
            return value
        } catch {
            guard isInTransaction else { throw error }
            try transactions.revert.run()
            try transactions.release.run()
            throw error
        }
    }

    /// Whether a transaction is open. SQLite itself rolls back after errors such as a full disk.
    public var isInTransaction: Bool { connection.isInTransaction }

    private func rollBack() {
        guard isInTransaction else { return }
        // A failed rollback has ended the transaction, too. SQLite repairs the file at the next access.
        _ = try? transactions.rollback.run()
    }

    /// Interrupts the running statement, which then throws `interrupted`; a transaction that writes is rolled back.
    /// Callable from any thread until `close` is called.
    func interrupt() { connection.interrupt() }

    /// Closes the file, and ends the lock of a writer. If no other connection is open, moves the WAL into the database.
    public func close() {
        connection.close()
        lock = nil
    }
}
