import APNSProtocol
import AdminHTTP
import Crypto
import EventLoop
import JSON

/// The routes `/v1/requests` and `/v1/duplicates`. The first route lists received requests or waits for a matching
/// request. The second route lists the IDs that several requests had.
struct RequestRoutes {
    let server: SimulatorServer

    var all: [AdminRoute] {
        [
            AdminRoute(
                .get, "/v1/requests",
                query: [
                    "after", "before", "limit", "apns_id", "device", "topic", "status", "reason", "connection",
                    "full_tokens",
                    "wait_seconds", "timeout",
                ],
                "the newest requests, or requests before or after a number; wait_seconds waits until a request matches",
                later: { exchange throws(AdminError) in try listRequests(exchange) }),
            AdminRoute(.get, "/v1/duplicates", "the IDs that more than one request had") { [server] _ in
                .object { json in
                    json.beginArray("duplicates")
                    for duplicate in server.memory.duplicates { duplicate.write(to: &json) }
                    json.endArray()
                }
            },
        ]
    }

    private func listRequests(_ exchange: AdminExchange) throws(AdminError) {
        let request = exchange.request
        let query = try RequestQuery(request)
        let showsTokens = try request.number("full_tokens", 0...1) == 1
        guard let seconds = try request.number("wait_seconds", 0...RequestMemory.waitSecondsMax) else {
            return exchange.answer(.page(server.memory.requests(query), showsTokens: showsTokens))
        }
        guard query.before == nil else { throw AdminError(400, "before and wait_seconds are mutually exclusive") }
        // Browsers log each 408 to the console, so a page that polls sets `timeout=empty` to receive an empty list.
        let timeout = request.query("timeout") ?? "error"
        guard ["error", "empty"].contains(timeout) else { throw AdminError(400, "timeout must be error or empty") }
        do throws(RequestWaitError) {
            let wait = try server.memory.whenRequest(query, within: .seconds(seconds)) { page in
                let page = page ?? (timeout == "empty" ? server.memory.requests(query) : nil)
                exchange.answer(
                    page.map { .page($0, showsTokens: showsTokens) }
                        ?? .error(408, "no matching request within \(seconds) s"))
            }
            if let wait { exchange.onAbandoned = { [server] in server.memory.cancel(wait) } }
        } catch {
            switch error {
            case .notLogging:
                throw AdminError(409, "requests are not logged: start the simulator with --requests-logged above 0")
            case .tooMany: throw AdminError(503, "too many clients wait for requests; try again later")
            }
        }
    }
}

extension RequestQuery {
    /// Creates a query from the parameters of a URL.
    ///
    /// - Throws: status 400 if a parameter is invalid. The message names the parameter.
    fileprivate init(_ request: AdminRequest) throws(AdminError) {
        self.init(
            after: try request.number("after", 0...Int.max), before: try request.number("before", 1...Int.max),
            limit: try request.number("limit", 1...Self.limitMax) ?? Self.limitDefault,
            devicePrefix: request.query("device"), topic: request.query("topic"),
            status: try request.number("status", 100...599),
            reason: request.query("reason").map { text in Array(text.utf8).withUnsafeBytes { Reason($0) } },
            connection: try request.number("connection", 1...Int.max))
        if let text = request.query("apns_id") {
            guard let id = UUIDValue(text) else { throw AdminError(400, "apns_id must be a UUID") }
            apnsID = id
        }
        guard devicePrefix?.utf8.allSatisfy(DeviceToken.isHexDigit) != false else {
            throw AdminError(400, "device must be the start of a device token, in hexadecimal digits")
        }
    }
}

extension AdminResponse {
    fileprivate static func page(_ page: RequestPage, showsTokens: Bool) -> AdminResponse {
        .object { json in
            json.beginArray("requests")
            for request in page.requests { request.write(to: &json, .full, showsTokens: showsTokens) }
            json.endArray()
            json.member("newest", page.newest)
            json.member("dropped", page.dropped)
        }
    }
}
