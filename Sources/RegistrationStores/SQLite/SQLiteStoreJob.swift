import Registrations
import SQLite

/// A job of a reader or writer. Subclasses hold the receiver, which only the loop uses, and the result.
class SQLiteStoreJob: SQLiteJob<SQLiteSession>, @unchecked Sendable {
    final let link: SQLiteThreadLink

    init(_ link: SQLiteThreadLink) {
        self.link = link
        super.init(on: link.loop)
    }

    /// Handles the success of the job. Called on the loop after the transaction is committed.
    func succeeded() { fatalError("succeeded must be overridden") }

    func failed(_ fault: StoreFault) { fatalError("failed must be overridden") }

    final override func completed(_ error: SQLiteError?) {
        if let error { failed(StoreFault(error)) } else { succeeded() }
        link.jobCompleted()
    }
}

/// A job that reports to a link that the thread has opened the file, or why the job failed.
final class SQLiteOpenJob: SQLiteStoreJob, @unchecked Sendable {
    override func run(_ session: SQLiteSession) throws(SQLiteError) {}

    override func succeeded() { link.opened(nil) }

    override func failed(_ fault: StoreFault) { link.opened(fault) }
}
