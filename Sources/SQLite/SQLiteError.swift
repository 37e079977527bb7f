/// The reason why an operation on a database file failed.
public struct SQLiteError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The cause of an error. Raw values are codes for metrics and logs.
    public enum Code: String, Sendable {
        /// A libsqlite3 that cannot be loaded, is too old, or does not support threads.
        case unavailable
        /// A file that cannot be opened, or whose file system does not support the WAL.
        case cannotOpen = "cannot-open"
        /// A missing file that is opened for reading only.
        case missing
        /// A lock that another writer has. The message contains the process id if known.
        case inUse = "in-use"
        /// An open file that was deleted, moved or replaced.
        case moved
        /// A database of another program.
        case foreign
        /// A file that a newer version of this program has migrated.
        case newerVersion = "newer-version"
        /// A file that is open for reading only and has an older version of the schema.
        case olderVersion = "older-version"
        /// A file that is damaged, or is not a database.
        case corrupt
        /// An exhausted disk, quota or maximum size of the file.
        case full
        /// A file, folder or file system that is read-only for this user.
        case readOnly = "read-only"
        /// A failure of the operating system to read, write, lock or sync the file.
        case inputOutput = "input-output"
        /// A file that another process has locked, for example to recover or close the file.
        case busy
        /// Exhausted memory or threads, or a failure of OpenSSL.
        case memory
        /// A statement that violates a constraint of a table.
        case constraint
        /// A value that is too large or malformed, or a column that does not hold the requested type.
        case value
        /// A missing table or column, an invalid statement, or an error of no other code.
        case statement
        /// A row that the job cannot decrypt, because the data key is missing.
        case missingKey = "missing-key"
        /// A statement that `SQLiteThread.close` interrupted.
        case interrupted
        /// A job beyond the limit of a thread's queue.
        case queueFull = "queue-full"
        /// A thread that stops or has stopped.
        case closed
    }

    public let code: Code
    /// SQLite's extended result code (https://sqlite.org/rescode.html); 0 if the error does not come from SQLite.
    public let extendedCode: Int32
    /// A text for operators. It contains no value of a statement or row.
    public let message: String

    package init(_ code: Code, _ message: String, extendedCode: Int32 = 0) {
        self.code = code
        self.extendedCode = extendedCode
        self.message = message
    }

    /// Whether the values of a statement or row caused the error, so that other statements can succeed.
    public var isCausedByData: Bool {
        switch code {
        case .constraint, .value, .missingKey: true
        case .unavailable, .cannotOpen, .missing, .moved, .inUse, .foreign, .newerVersion, .olderVersion, .corrupt,
            .full, .readOnly, .inputOutput, .busy, .memory, .statement, .interrupted, .queueFull, .closed:
            false
        }
    }

    /// The message, with SQLite's code if there is one.
    public var description: String { extendedCode == 0 ? message : "\(message) (SQLite \(extendedCode))" }
}
