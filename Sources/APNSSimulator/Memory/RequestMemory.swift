import APNSProtocol
public import Crypto
import EventLoop

/// A server's memory of received requests: a log of the newest requests, the IDs, and the duplicates. Each part has a
/// limit.
///
/// The memory is used only on the server's event loop.
public final class RequestMemory {
    /// Maximum time to wait for a request.
    public static let waitSecondsMax = 60

    /// Whether requests are kept for ``requests(_:)`` and ``whenRequest(_:within:_:)``.
    public let isLogging: Bool
    /// A handler that receives each request when its answer is decided or the request is found to be malformed. The
    /// payload's bytes are valid only during the call. Requests that were arriving when the handler was set may lack
    /// their headers.
    public var onRequest: ((LoggedRequest, _ payload: UnsafeRawBufferPointer) -> Void)? {
        didSet { if log == nil, onRequest != nil { log = RequestLog(requestsMax: 1) } }
    }

    private let loop: EventLoop
    private let record: RecordFile?
    /// The log; nil if requests are neither logged nor recorded and no handler was ever set. If requests are not
    /// logged, the log is limited to one request.
    private var log: RequestLog?
    private var ids: IDSet
    private var repeated = DuplicateList()
    private var waits = RequestWaits()

    init(loop: EventLoop, configuration: SimulatorConfiguration, record: RecordFile?) {
        self.loop = loop
        self.record = record
        isLogging = configuration.requestsLoggedMax > 0
        ids = IDSet(idsMax: configuration.idsRememberedMax, seed: loop.nextRandom())
        if isLogging || record != nil { log = RequestLog(requestsMax: configuration.requestsLoggedMax) }
    }

    /// Whether requests must keep all of their headers.
    var keepsHeaders: Bool { log != nil }

    /// Whether the log keeps the HPACK representations of headers.
    var keepsRepresentations: Bool { isLogging }

    /// Remembers the ID of a processed request. Returns whether it remembered an earlier one with the same ID.
    func isDuplicate(_ id: UUIDValue) -> Bool { !ids.insert(id) }

    /// Adds a request to the log and to the record, and a repeated ID to the duplicates. Calls ``onRequest`` and the
    /// handlers of matching waits. Returns the request's number, or 0 without a log.
    func add(_ request: Request, _ entry: RequestLog.Entry, reason: Reason?, faultID: String?) -> Int {
        let number = log?.append(request, entry, reason: reason, faultID: faultID) ?? 0
        if entry.isDuplicate, let id = entry.id {
            repeated.add(
                DuplicateID(
                    id: id, number: number, connection: entry.connection, unixMilliseconds: entry.unixMilliseconds))
        }
        guard let log else { return 0 }
        if record != nil || onRequest != nil, let logged = log.with(number, { LoggedRequest($0) }) {
            record?.append(logged)
            onRequest?(logged, request.bodyBytes)
        }
        if !waits.isEmpty { finishWaits(for: number) }
        return number
    }

    /// Records the time at which the simulator sent the answer to a request.
    func answered(_ number: Int, atUnixMilliseconds time: Int64) {
        log?.answered(number, atUnixMilliseconds: time)
    }

    private func finishWaits(for number: Int) {
        for wait in log?.with(number, { waits.waits(for: $0) }) ?? [] { finish(wait, hasMatch: true) }
    }

    private func finish(_ wait: RequestWait, hasMatch: Bool) {
        guard let removed = waits.remove(wait) else { return }
        if let timer = removed.timer { loop.cancel(timer) }
        removed.done(hasMatch ? removed.query : nil)
    }

    /// Returns the logged requests that match a query; none unless ``isLogging``.
    public func requests(_ query: RequestQuery = RequestQuery(limit: RequestQuery.limitMax)) -> RequestPage {
        loop.assertOnLoop()
        guard isLogging, let log else { return RequestPage(requests: [], newest: 0, dropped: 0) }
        return log.requests(current(query))
    }

    /// Returns the query with a valid `after`. An `after` above the newest number is from before a restart of the
    /// numbers.
    private func current(_ query: RequestQuery) -> RequestQuery {
        guard let log, let after = query.after, after > log.newest else { return query }
        var query = query
        query.after = 0
        return query
    }

    /// Waits for a request that matches a query.
    ///
    /// - Parameters:
    ///   - deadline: the timeout; at most ``waitSecondsMax``.
    ///   - done: called once, unless the wait is canceled, with one or more matching requests, or with nil after the
    ///     timeout. The call may happen before this method returns.
    /// - Returns: the wait for ``cancel(_:)``; nil if `done` was already called.
    /// - Throws: `RequestWaitError` if requests are not logged or too many clients wait.
    @discardableResult
    public func whenRequest(
        _ query: RequestQuery, within deadline: Duration, _ done: @escaping (RequestPage?) -> Void
    ) throws(RequestWaitError) -> RequestWait? {
        loop.assertOnLoop()
        guard isLogging else { throw .notLogging }
        let page = requests(query)
        guard page.requests.isEmpty else {
            done(page)
            return nil
        }
        let wait = waits.add(current(query)) { [unowned self] in done($0.map { requests($0) }) }
        guard let wait else { throw .tooMany }
        let timer = loop.schedule(after: min(deadline, .seconds(Self.waitSecondsMax))) { [weak self] in
            self?.finish(wait, hasMatch: false)
        }
        waits.setTimer(timer, of: wait)
        return wait
    }

    /// Cancels a wait without calling its handler.
    public func cancel(_ wait: RequestWait) {
        loop.assertOnLoop()
        if let timer = waits.remove(wait)?.timer { loop.cancel(timer) }
    }

    /// The IDs that more than one request had.
    public var duplicates: [DuplicateID] { repeated.all }

    /// Returns whether the memory contains this request ID.
    public func hasSeen(_ id: UUIDValue) -> Bool { ids.contains(id) }

    /// Number of IDs discarded to make room.
    var idsForgotten: Int { ids.forgotten }

    /// The error that ended the record; nil if no write failed.
    var recordFailure: String? { record?.failure }

    func closeRecord() { record?.close() }

    /// Removes all requests and IDs, and restarts the numbers of requests.
    func removeAll() {
        waits.restartNumbers()
        log?.removeAll()
        ids.removeAll()
        repeated.removeAll()
    }
}

/// The reason why a client cannot wait for a request.
public enum RequestWaitError: Error, Sendable, Hashable {
    /// A simulator that does not log requests.
    case notLogging
    /// Too many waiting clients.
    case tooMany
}
