import EventLoop
import Registrations
import SQLite

/// A writer of an SQLite store. If the store is open for reading only, the writer reads pages and refuses changes.
final class SQLiteWriter: RegistrationWriter {
    private let link: SQLiteThreadLink
    /// The fault of each change; nil if the store accepts changes.
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

    override func read(_ page: MarkPage) { link.submit(SQLiteMarkPageJob(page, link)) }

    override func edit(_ page: EditPage) { submitChange(SQLiteEditJob(page, link)) }

    override func close() async { await link.close() }

    private func submitChange(_ job: SQLiteStoreJob) {
        guard let refusal else { return link.submit(job) }
        link.loop.later { job.failed(refusal) }
    }
}
