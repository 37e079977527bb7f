public import EventLoop

/// Work on a database, given to an ``SQLiteThread`` by an event loop. Subclasses hold the parameters and the results.
///
/// `@unchecked Sendable`: the loop hands the job over with `submit`, the thread hands it back with `completed`, and
/// only the side that has the job uses it.
open class SQLiteJob<Statements>: @unchecked Sendable {
    /// The loop that submits the job and on which `completed` is called.
    public let loop: EventLoop
    /// The error of the run. Written by the thread before it hands the job back.
    final var error: SQLiteError?

    public init(on loop: EventLoop) {
        self.loop = loop
    }

    /// Reads or writes, within a transaction of the thread. Called on the thread, at most once. Must not begin a
    /// transaction; may use `SQLiteFile.savepoint`.
    ///
    /// - Throws: an error for which the changes of this job are reverted. If it is caused by data
    ///   (`SQLiteError.isCausedByData`), the other jobs of the transaction continue.
    open func run(_ statements: Statements) throws(SQLiteError) {
        fatalError("run must be overridden")
    }

    /// Reports the outcome. Called on the loop, once, after the transaction has ended; not called after the loop has
    /// ended. Jobs of a loop complete in the order of their submission.
    ///
    /// - Parameter error: nil if the changes are committed.
    open func completed(_ error: SQLiteError?) {
        fatalError("completed must be overridden")
    }
}
