import EventLoop
import Registrations
import SQLite

/// A lane's use of the reading thread of a store.
final class SQLiteReader: RegistrationReader {
    /// How long a lookup waits for the thread, such as for a disk that does not answer. Then the lookup fails, and its
    /// devices are ignored.
    static let lookupSecondsMax = 2
    fileprivate static let noAnswer = StoreFault(
        .unreachable, "cannot look up devices: the file did not answer within \(lookupSecondsMax) s; check its disk")

    private let link: SQLiteThreadLink

    init(_ thread: SharedSQLiteThread, on loop: EventLoop) {
        link = SQLiteThreadLink(thread, on: loop)
    }

    override func start(onChange: @escaping (StoreFault?) -> Void) { link.start(onChange: onChange) }

    override func lookUp(_ lookup: DeviceLookup) { link.submit(LookupJob(lookup, link)) }

    override func close() async { await link.close() }
}

private final class LookupJob: SQLiteStoreJob, @unchecked Sendable {
    /// The receiver and the timer of its deadline; nil once the receiver was called. Only the loop uses it.
    private var waiting: (lookup: DeviceLookup, timer: TimerToken)?
    private let queries: [DeviceQuery]
    private let now: Int64
    private var devices: [[FoundDevice]] = []

    init(_ lookup: DeviceLookup, _ link: SQLiteThreadLink) {
        (queries, now) = (lookup.queries, link.loop.now.unixMilliseconds)
        super.init(link)
        let timer = loop.schedule(after: .seconds(SQLiteReader.lookupSecondsMax)) { [self] in
            waiting.take()?.lookup.failed(SQLiteReader.noAnswer)
        }
        waiting = (lookup, timer)
    }

    override func run(_ session: SQLiteSession) throws(SQLiteError) {
        devices = try session.lookUp(queries, now: now)
    }

    override func succeeded() { receiver()?.completed(devices) }

    override func failed(_ fault: StoreFault) { receiver()?.failed(fault) }

    /// Returns the receiver, once; nil after the deadline.
    private func receiver() -> DeviceLookup? {
        guard let (lookup, timer) = waiting.take() else { return nil }
        loop.cancel(timer)
        return lookup
    }
}
