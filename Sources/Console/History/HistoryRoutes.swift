import AdminHTTP
import ControlProtocol
import EventLoop
import History
import SQLite

/// The routes of the API that read the history. Loop-bound.
struct HistoryRoutes {
    private static let gapsMax = 20
    private static let appsMax = 1000

    let feed: HistoryFeed?
    let desk: LoginDesk
    let watch: FleetWatch
    let loop: EventLoop

    static let isOff = AdminError(
        404, "the history is off: the configuration has no section journal", code: "history_off",
        remedy: "add journal: {} to the configuration, run martlet topology apply, and restart the console")

    var all: [AdminRoute] {
        let retention = feed?.store.limits.retentionMilliseconds ?? 0
        return [
            route(
                "/api/requests", query: HistoryRequest.names, "requests, newest first",
                { request throws(AdminError) in try HistoryRequest(request) },
                { request, now, reader throws(SQLiteError) in
                    let page = try reader.page(request.query, before: request.before, limit: HistoryRequest.rowsMax)
                    return (page, try Self.gaps(page, request, reader, retention, at: now), request.emptyNote)
                }, { $1.page($0.0, $0.1, emptyNote: $0.2) }),
            route(
                "/api/requests/KEY", "the steps of a request",
                { request throws(AdminError) in
                    guard let key = HistoryRequest.position(request.parameter("KEY")) else { throw Self.unknown }
                    return key
                },
                { key, _, reader throws(SQLiteError) in (key, try reader.lines(at: key)) },
                { $0.1.isEmpty ? nil : $1.request($0.1, key: $0.0) }),
            route(
                "/api/dead/groups", "dead letters by cause", { _ throws(AdminError) in () },
                { _, now, reader throws(SQLiteError) in try reader.deadLetterGroups(at: now) },
                { $1.groups($0, inQueue: watch.queues.deadLetters) }),
            route(
                "/api/dead/samples", query: ["group"], "samples of dead letters with one cause",
                { request throws(AdminError) in
                    guard let text = request.query("group"), let group = Int64(text), "\(group)" == text else {
                        throw AdminError(
                            400, "group must be the value of a member `group` of an earlier response", code: "invalid")
                    }
                    return group
                },
                { group, _, reader throws(SQLiteError) in try reader.samples(of: group) }, { $1.samples($0) }),
            route(
                "/api/apps", "results of the last hour by app", { _ throws(AdminError) in () },
                { _, now, reader throws(SQLiteError) in Array(try reader.apps(at: now).prefix(Self.appsMax)) },
                { $1.apps($0) }),
        ]
    }

    private static let unknown = AdminError(404, "the history has no such request", code: "unknown")

    /// Returns a route whose answer a query provides.
    ///
    /// - Parameters:
    ///   - parse: reads the parameters.
    ///   - read: runs on the thread of the reader, with UNIX milliseconds.
    ///   - write: returns the answer; nil if there is no such request.
    private func route<Parameters: Sendable, Value>(
        _ path: String, query: [String] = [], _ help: String,
        _ parse: @escaping (AdminRequest) throws(AdminError) -> Parameters,
        _ read: @escaping (Parameters, Int64, HistoryReader) throws(SQLiteError) -> Value,
        _ write: @escaping (Value, HistoryJSON) -> [UInt8]?
    ) -> AdminRoute {
        AdminRoute(
            .get, path, query: query, help,
            later: { exchange throws(AdminError) in
                let session = try desk.session(of: exchange.request)
                guard let feed else { throw Self.isOff }
                let parameters = try parse(exchange.request)
                let json = HistoryJSON(role: try desk.currentRole(session, exchange.request, "history"))
                let now = loop.now.unixMilliseconds
                watch.readQueues()
                feed.store.read({ reader throws(SQLiteError) in try read(parameters, now, reader) }) { result in
                    switch result {
                    case .success(let value):
                        exchange.answer(write(value, json).map { .json($0) } ?? Self.unknown.response)
                    case .failure(let error): exchange.answer(Self.refusal(error).response)
                    }
                }
            })
    }

    static func refusal(_ error: SQLiteError) -> AdminError {
        switch error.code {
        case .queueFull: AdminError(503, "too many queries of the history wait; try again later", code: "busy")
        default: AdminError(503, "cannot read the history: \(error.message)", code: "history_unavailable")
        }
    }

    /// Returns the newest gaps that may hide a request. Returns none for a later page, or if a query by id has found a
    /// result.
    ///
    /// - Parameters:
    ///   - retention: the milliseconds for which requests are kept.
    ///   - now: UNIX milliseconds.
    private static func gaps(
        _ page: HistoryPage, _ request: HistoryRequest, _ reader: HistoryReader, _ retention: Int64, at now: Int64
    ) throws(SQLiteError) -> [HistoryGap] {
        guard request.before == nil else { return [] }
        if case .id = request.query, page.rows.contains(where: { $0.isResult }) { return [] }
        let oldest = page.next == nil ? now - retention : page.rows.last?.line.at ?? now
        let gaps = try reader.gaps(in: min(oldest, now)...now, at: now)
        return Array(gaps.sorted { $0.until > $1.until }.prefix(gapsMax))
    }
}

extension HistoryRow {
    fileprivate var isResult: Bool { if case .result = line { true } else { false } }
}
