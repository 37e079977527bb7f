/// The reason why an operation on a database file failed.
public struct SQLiteError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The cause of an error. Raw values are codes for metrics and logs.
    public enum Code: String, Sendable {
        /// libsqlite3 cannot be loaded, is too old, or does not support threads.
        case unavailable
        /// The file cannot be opened, or its file system does not support the WAL.
        case cannotOpen = "cannot-open"
        /// The file, which is opened for reading only, does not exist.
        case missing
        /// Another process has the lock of the writer. The message contains its process id if known.
        case inUse = "in-use"
        /// The file, which is open, was deleted, moved or replaced.
        case moved
        /// The file is a database of another program.
        case foreign
        /// A newer version of this program has migrated the file.
        case newerVersion = "newer-version"
        /// The file has an older version of the schema, and is open for reading only.
        case olderVersion = "older-version"
        /// The file is damaged, or is not a database.
        case corrupt
        /// The disk, the quota or the maximum size of the file is exhausted.
        case full
        /// The file, its folder or its file system is read-only for this user.
        case readOnly = "read-only"
        /// The operating system cannot read, write, lock or sync the file.
        case inputOutput = "input-output"
        /// Another process has locked the file, for example to recover or close it.
        case busy
        /// Memory is exhausted.
        case memory
        /// A statement violates a constraint of a table.
        case constraint
        /// A value is too large or malformed, or a column does not hold the requested type.
        case value
        /// A table or column is missing, or a statement is invalid.
        case statement
        /// The job cannot decrypt a row, because the data key is missing.
        case missingKey = "missing-key"
        /// `SQLiteThread.close` interrupted a statement.
        case interrupted
        /// The queue of a thread is full.
        case queueFull = "queue-full"
        /// The thread stops or has stopped.
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
