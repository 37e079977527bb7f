import EventLoop
import Registrations
import SQLite

/// A reader of an SQLite store. It submits lookups to a thread that all readers of the store share.
final class SQLiteReader: RegistrationReader {
    /// Maximum duration of a lookup. A lookup that takes longer, for example because the disk does not respond, fails,
    /// and its result is ignored.
    static let lookupSecondsMax = 2
    fileprivate static let noAnswer = StoreFault(
        .unreachable, "cannot look up devices: the file did not respond within \(lookupSecondsMax) s; check its disk")

    private let link: SQLiteThreadLink

    init(_ thread: SharedSQLiteThread, on loop: EventLoop) {
        link = SQLiteThreadLink(thread, on: loop)
    }

    override func start(onChange: @escaping (StoreFault?) -> Void) { link.start(onChange: onChange) }

    override func lookUp(_ lookup: DeviceLookup) { link.submit(LookupJob(lookup, link)) }

    override func close() async { await link.close() }
}

private final class LookupJob: SQLiteStoreJob, @unchecked Sendable {
    /// The receiver and the timer of its deadline; nil after the outcome is reported. Used on the loop only.
    private var waiting: (lookup: DeviceLookup, timer: TimerToken)?
    private let queries: [DeviceQuery]
    private let now: Int64
    private var results: [Result<[FoundDevice], MissingDataKey>] = []

    init(_ lookup: DeviceLookup, _ link: SQLiteThreadLink) {
        (queries, now) = (lookup.queries, link.loop.now.unixMilliseconds)
        super.init(link)
        let timer = loop.schedule(after: .seconds(SQLiteReader.lookupSecondsMax)) { [self] in
            // A result that has arrived precedes the timeout. After a long event-loop iteration, the result and the
            // timer can both be due.
            loop.later { [self] in waiting.take()?.lookup.failed(SQLiteReader.noAnswer) }
        }
        waiting = (lookup, timer)
    }

    override func run(_ session: SQLiteSession) throws(SQLiteError) {
        results = try session.lookUp(queries, now: now)
    }

    override func succeeded() {
        guard let lookup = receiver() else { return }
        var devices: [[FoundDevice]] = []
        devices.reserveCapacity(results.count)
        for (query, result) in results.enumerated() {
            switch result {
            case .success(let found): devices.append(found)
            case .failure(let missing):
                devices.append([])
                lookup.fail(query: query, StoreFault(missing))
            }
        }
        lookup.completed(devices)
    }

    override func failed(_ fault: StoreFault) { receiver()?.failed(fault) }

    /// Returns the receiver and cancels its deadline; nil if the lookup has failed at the deadline.
    private func receiver() -> DeviceLookup? {
        guard let (lookup, timer) = waiting.take() else { return nil }
        loop.cancel(timer)
        return lookup
    }
}
