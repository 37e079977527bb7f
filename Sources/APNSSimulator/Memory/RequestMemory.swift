import APNSProtocol
public import Crypto
import EventLoop

/// What a server remembers of the requests that it saw: a log of the newest, their ids, and who came twice. All of it has
/// its limits. On the server's loop.
public final class RequestMemory {
    /// How long somebody may wait for a request.
    public static let waitSecondsMax = 60

    /// Whether requests are kept for ``requests(_:)`` and ``whenRequest(_:within:_:)``.
    public let isLogging: Bool
    /// Told of each request when its answer is decided, or it was found to be malformed, with the payload's bytes, which
    /// are valid during the call. Of requests that were under way when this was set the headers are missing.
    public var onRequest: ((LoggedRequest, _ payload: UnsafeRawBufferPointer) -> Void)? {
        didSet { if log == nil, onRequest != nil { log = RequestLog(requestsMax: 1) } }
    }

    private let loop: EventLoop
    private let record: RecordFile?
    /// nil when nobody wants to know of requests. One request long when somebody does and none is kept.
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

    /// Whether requests have to keep all of their headers.
    var keepsHeaders: Bool { log != nil }

    /// Whether it is of interest how headers were written.
    var keepsRepresentations: Bool { isLogging }

    /// Notes the id of a request; whether it came before.
    func isDuplicate(_ id: UUIDValue) -> Bool { !ids.insert(id) }

    /// Keeps a request; its number, or 0 when nobody wants to know.
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
        if !waits.isEmpty { tellWaits(of: number) }
        return number
    }

    /// Notes that a request's answer was sent.
    func answered(_ number: Int, atUnixMilliseconds time: Int64) {
        log?.answered(number, atUnixMilliseconds: time)
    }

    private func tellWaits(of number: Int) {
        for wait in log?.with(number, { waits.waits(for: $0) }) ?? [] { finish(wait, hasCome: true) }
    }

    private func finish(_ wait: RequestWait, hasCome: Bool) {
        guard let removed = waits.remove(wait) else { return }
        if let timer = removed.timer { loop.cancel(timer) }
        removed.done(hasCome ? removed.query : nil)
    }

    /// Requests that are kept; none when it is not ``isLogging``.
    public func requests(_ query: RequestQuery = RequestQuery(limit: RequestQuery.limitMax)) -> RequestPage {
        loop.assertOnLoop()
        guard isLogging, let log else { return RequestPage(requests: [], newest: 0, dropped: 0) }
        return log.requests(current(query))
    }

    /// Who asks for what came after a number that there is not yet has it from before numbers began anew.
    private func current(_ query: RequestQuery) -> RequestQuery {
        guard let log, let after = query.after, after > log.newest else { return query }
        var query = query
        query.after = 0
        return query
    }

    /// Waits for a request.
    ///
    /// - Parameters:
    ///   - deadline: at most ``waitSecondsMax``.
    ///   - done: called once: with the requests that match, at least one, maybe before this returns; or with nil when none
    ///     had come in time.
    /// - Returns: names the wait for ``cancel(_:)``; nil when it is over already.
    /// - Throws: when too many wait, or requests are not kept.
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
            self?.finish(wait, hasCome: false)
        }
        waits.setTimer(timer, of: wait)
        return wait
    }

    /// Ends a wait; what was to be called is not.
    public func cancel(_ wait: RequestWait) {
        loop.assertOnLoop()
        if let timer = waits.remove(wait)?.timer { loop.cancel(timer) }
    }

    /// Ids that more than one request had.
    public var duplicates: [DuplicateID] { repeated.all }

    /// Whether a request with this `apns-id` came, as far as ids are remembered.
    public func hasSeen(_ id: UUIDValue) -> Bool { ids.contains(id) }

    /// Ids that were forgotten to make room.
    var idsForgotten: Int { ids.forgotten }

    /// Why the record ends early; nil when it does not.
    var recordFailure: String? { record?.failure }

    func closeRecord() { record?.close() }

    /// Forgets all that came; the numbers of requests begin anew.
    func removeAll() {
        waits.restartNumbers()
        log?.removeAll()
        ids.removeAll()
        repeated.removeAll()
    }
}

/// Why nobody can wait for a request.
public enum RequestWaitError: Error, Sendable, Hashable {
    /// Requests are not kept.
    case notLogging
    /// As many wait as may.
    case tooMany
}
