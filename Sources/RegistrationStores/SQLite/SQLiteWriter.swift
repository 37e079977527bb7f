import EventLoop
import Registrations
import SQLite

/// The use of a store's file for changes, or of a file that is open for reading by a command.
final class SQLiteWriter: RegistrationWriter {
    private let link: SQLiteThreadLink
    /// Why the store refuses changes; nil if it does not.
    private let refusal: StoreFault?

    init(_ thread: SharedSQLiteThread, refusal: StoreFault?, on loop: EventLoop) {
        link = SQLiteThreadLink(thread, on: loop)
        self.refusal = refusal
    }

    override func start(onChange: @escaping (StoreFault?) -> Void) { link.start(onChange: onChange) }

    override func apply(_ batch: CommandBatch) { submitChange(SQLiteBatchJob(batch, link)) }

    override func delete(_ events: EventDeletion) { submitChange(SQLiteEventDeletionJob(events, link)) }

    override func maintain(_ maintenance: Maintenance) { submitChange(SQLiteMaintenanceJob(maintenance, link)) }

    override func read(_ page: RegistrationPage) { link.submit(SQLitePageJob(page, link)) }

    override func edit(_ page: EditPage) { submitChange(SQLiteEditJob(page, link)) }

    override func close() async { await link.close() }

    private func submitChange(_ job: SQLiteStoreJob) {
        guard let refusal else { return link.submit(job) }
        link.loop.later { job.failed(refusal) }
    }
}
