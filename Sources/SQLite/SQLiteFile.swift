import CSQLite
import Glibc

/// A database file, open on one thread. The file is in WAL mode. Readers see the last commit, and do not wait for the
/// transactions of the writer.
///
/// Unless a method states otherwise, call it only on the thread that opened the file. Methods block for input and
/// output. Close the file before its last reference is released.
public final class SQLiteFile {
    public enum Access: Sendable {
        /// Access for reading and writing. Creates the file if it is missing, and migrates it. One process at a time
        /// has this access.
        case readWrite
        /// Access for reading only. The file must exist and have the version of the schema.
        case readOnly
    }

    /// The mode of files that this process creates, before its umask. SQLite gives its own files beside the database
    /// the same mode.
    static let mode: mode_t = 0o640
    /// The size in bytes to which SQLite truncates a larger WAL after a checkpoint.
    static let walBytesMax = 64 << 20
    /// The time for which a reader waits while another process recovers or closes the file. A writer does not wait,
    /// since no other process writes.
    static let readerBusyMillisecondsMax: Int32 = 1000

    /// Returns the path of the file whose lock permits one writer of a database. The file remains after its writer.
    public static func lockPath(of path: String) -> String { path + ".lock" }

    public let path: String
    public let access: Access
    private let connection: SQLiteConnection
    private var lock: SQLiteWriterLock?
    private let transactions: SQLiteTransactions

    /// Opens a file. For a writer, each commit waits for the disk (`synchronous = FULL`), SQLite overwrites the bytes
    /// of deleted rows (`secure_delete`), and foreign keys are not enforced.
    ///
    /// - Throws: ``SQLiteError`` of code `unavailable`, `cannotOpen`, `missing`, `readOnly`, `inUse`, `foreign`,
    ///   `newerVersion`, `olderVersion`, `corrupt` or `full`, or another error of SQLite.
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

    /// Prepares the connection. Closes the connection if the preparation fails.
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

    /// Creates a missing file with ``mode``, since SQLite would permit all users to read it. Otherwise, checks the
    /// permissions to read and write. Without the permission to write, SQLite would open the file for reading only.
    ///
    /// Does not open an existing file, because closing its descriptor would end the locks of this process's other
    /// connections.
    private static func createIfMissing(_ path: String) throws(SQLiteError) {
        let descriptor = Glibc.open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
        if descriptor >= 0 {
            giveToOwnerOfFolder(descriptor, path)
            Glibc.close(descriptor)
        } else if errno != EEXIST || Glibc.access(path, R_OK | W_OK) != 0 {
            throw SQLiteError(cannotOpen: path, errno: errno)
        }
    }

    /// Gives a file that root has created to the owner of its folder. Otherwise, a command of root that precedes the
    /// first start of the worker would create a database that the worker cannot open. SQLite gives its own files beside
    /// the database the owner of the database.
    static func giveToOwnerOfFolder(_ descriptor: Int32, _ path: String) {
        guard geteuid() == 0 else { return }
        let end = path.utf8.lastIndex(of: UInt8(ascii: "/"))
        let folder = end.map { String(decoding: path.utf8[...$0], as: UTF8.self) }
        var status = stat()
        // After a failure, root owns the file, as it owns other files that it creates.
        if stat(folder ?? ".", &status) == 0 { _ = fchown(descriptor, status.st_uid, status.st_gid) }
    }

    /// Prepares a statement, which is valid until the file is closed.
    ///
    /// - Throws: ``SQLiteError``, such as `statement` if a table or column is missing.
    public func prepare(_ sql: StaticString) throws(SQLiteError) -> SQLiteStatement {
        try SQLiteStatement(sql, on: connection)
    }

    /// Runs statements that are separated by semicolons and have no parameters, and ignores their rows.
    ///
    /// - Throws: ``SQLiteError``. The statements before the failed one have run.
    public func execute(_ sql: StaticString) throws(SQLiteError) {
        try connection.execute(sql)
    }

    /// Moves the WAL into the database, and empties the WAL. Call it outside of a transaction.
    ///
    /// - Throws: ``SQLiteError``; of code `busy` if another connection reads the file, so that the WAL is not empty.
    public func emptyWAL() throws(SQLiteError) {
        let isBusy = try connection.first("PRAGMA wal_checkpoint(TRUNCATE)") { row throws(SQLiteError) in
            try row.int64(0) != 0
        }
        guard isBusy == false else {
            throw SQLiteError(.busy, "cannot empty \(path)-wal: another process reads the file; end that process")
        }
    }

    /// Runs `body` in a transaction, and commits. Rolls back if `body` or the commit fails. Calls must not be nested.
    ///
    /// In a file with `readOnly` access, all statements of `body` read the same state of the database.
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

    /// Runs `body` within a transaction. If `body` fails, reverts only its changes. Calls may be nested.
    ///
    /// - Throws: ``SQLiteError``, and the errors of `body`. After an error that is not caused by data, the whole
    ///   transaction may be rolled back. ``isInTransaction`` is then false.
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

    /// Checks that the path still names this file. Otherwise, the changes of the last transaction may be lost once the
    /// file is closed.
    ///
    /// - Throws: ``SQLiteError`` of code `moved`.
    func requireInPlace() throws(SQLiteError) {
        guard connection.hasMoved else { return }
        throw SQLiteError(
            .moved,
            "cannot use \(path): the file was deleted, moved or replaced; move the file back, or stop the worker and "
                + "restore the file from a backup")
    }

    private func rollBack() {
        guard isInTransaction else { return }
        // A failed rollback also ends the transaction.
        _ = try? transactions.rollback.run()
    }

    /// Interrupts the running statement, which then throws `interrupted`. If the statement writes, SQLite rolls back
    /// the whole transaction. Callable from any thread until `close` is called.
    func interrupt() { connection.interrupt() }

    /// Closes the file, and ends the lock of a writer. A writer whose connection is the last one moves the WAL into the
    /// database.
    public func close() {
        connection.close()
        lock = nil
    }
}
