import EventLoop
import Registrations
import SQLite

/// A lane's use of the reading thread of a store.
final class SQLiteReader: RegistrationReader {
    private let link: SQLiteThreadLink

    init(_ thread: SharedSQLiteThread, on loop: EventLoop) {
        link = SQLiteThreadLink(thread, on: loop)
    }

    override func start(onChange: @escaping (StoreFault?) -> Void) { link.start(onChange: onChange) }

    override func lookUp(_ lookup: DeviceLookup) { link.submit(LookupJob(lookup, link)) }

    override func close() async { await link.close() }
}

private final class LookupJob: SQLiteStoreJob, @unchecked Sendable {
    private let lookup: DeviceLookup
    private let queries: [DeviceQuery]
    private let now: Int64
    private var devices: [[FoundDevice]] = []

    init(_ lookup: DeviceLookup, _ link: SQLiteThreadLink) {
        (self.lookup, queries, now) = (lookup, lookup.queries, link.loop.now.unixMilliseconds)
        super.init(link)
    }

    override func run(_ session: SQLiteSession) throws(SQLiteError) {
        devices = try session.lookUp(queries, now: now)
    }

    override func succeeded() { lookup.completed(devices) }

    override func failed(_ fault: StoreFault) { lookup.failed(fault) }
}
