public import EventLoop

/// A unit of work on a database, which an event loop submits to an ``SQLiteThread``. Subclasses hold the parameters and
/// the results.
///
/// `@unchecked Sendable`: the loop hands the job over with `submit`, and the thread hands it back with `completed`.
/// Only the side that has the job uses it.
open class SQLiteJob<Statements>: @unchecked Sendable {
    /// The loop that submits the job and calls `completed`.
    public let loop: EventLoop
    /// The error of the job or of its transaction; nil after success. The thread sets it before it hands the job back.
    final var error: SQLiteError?

    public init(on loop: EventLoop) {
        self.loop = loop
    }

    /// Reads or writes within a transaction. The thread calls the method at most once. An override must not begin a
    /// transaction, but may use `SQLiteFile.savepoint`.
    ///
    /// - Throws: an error that reverts the changes of this job. The other jobs of the transaction continue if data
    ///   caused the error (`SQLiteError.isCausedByData`), or if the file is open for reading only.
    open func run(_ statements: Statements) throws(SQLiteError) {
        fatalError("run must be overridden")
    }

    /// Receives the outcome. The loop calls the method once, unless the loop ends first. Jobs of a loop complete in the
    /// order of their submission.
    ///
    /// - Parameter error: nil if the changes are committed.
    open func completed(_ error: SQLiteError?) {
        fatalError("completed must be overridden")
    }
}
