import AdminHTTP
import ControlProtocol
import Delivery

/// The routes of the admin endpoint.
struct WorkerRoutes {
    /// The query of the worker's status. It calls its argument once all queried threads have answered or the timeout
    /// has passed.
    let status: (@escaping (WorkerSnapshot) -> Void) -> Void
    /// Numbers of the stalled lanes.
    let stalledLanes: () -> [Int]
    /// The conversion of all metrics to text, including the metrics whose values are in the snapshot.
    let metrics: (WorkerSnapshot) -> String
    /// The pause of a scope; the end of the pause if the note is nil. The response is an error if the configuration
    /// does not contain the scope, or if a lane has not answered.
    let pause: (PauseScope, PauseNote?, @escaping (AdminResponse) -> Void) -> Void
    /// The change of the worker's SQLite store that the body describes.
    let changeStore: (_ body: [UInt8], @escaping @Sendable (AdminResponse) -> Void) -> Void

    /// The routes that the TCP port and the control socket serve.
    var views: [AdminRoute] {
        [
            AdminRoute(.get, "/livez", "whether every lane makes progress") { _ throws(AdminError) in live() },
            AdminRoute(
                .get, "/readyz", "whether the worker is ready, with reasons if not",
                later: { exchange throws(AdminError) in
                    status { exchange.answer(Self.ready($0.status)) }
                }),
            AdminRoute(
                .get, "/status", "status of the worker as JSON",
                later: { exchange throws(AdminError) in
                    status { exchange.answer(.json($0.status.json)) }
                }),
            AdminRoute(
                .get, "/metrics", "metrics for Prometheus",
                later: { exchange throws(AdminError) in
                    status { exchange.answer(.metrics(metrics($0))) }
                }),
        ]
    }

    /// The routes that only the control socket serves.
    var controls: [AdminRoute] {
        [("/pause", true), ("/resume", false)].map { path, isPaused in
            AdminRoute(
                .post, path, query: PauseScope.words + (isPaused ? PauseNote.words : []),
                "\(path.dropFirst()) all, a key, a certificate or a topic",
                later: { exchange throws(AdminError) in
                    let scope = try Self.scope(of: exchange.request)
                    let note = PauseNote(by: exchange.request.query("by"), reason: exchange.request.query("reason"))
                    pause(scope, isPaused ? note : nil) { exchange.answer($0) }
                })
        } + [
            AdminRoute(
                .post, "/registrations", "change the SQLite store of registrations",
                later: { exchange throws(AdminError) in
                    // Only the control loop uses the exchange.
                    nonisolated(unsafe) let exchange = exchange
                    changeStore(exchange.request.body) { exchange.answer($0) }
                })
        ]
    }

    private func live() -> AdminResponse {
        let stalled = stalledLanes()
        guard !stalled.isEmpty else { return .text(200, "ok\n") }
        return .text(503, stalled.map { "lane \($0) stalled\n" }.joined())
    }

    private static func ready(_ status: WorkerStatus) -> AdminResponse {
        let held =
            status.breakers.map { "\($0.route) held: \($0.code): \($0.sentence)" }
            + status.scopesAndPauses.map { scope, report in
                let remedy = report?.remedy ?? PauseScope.remedy(of: scope)
                return "\(scope) is \(report?.text ?? "paused"); to resume, run: \(remedy)"
            }
        let fleet = status.fleet?.reason.map { ["fleet: \($0)"] } ?? []
        let registrations = status.registrations?.reasons.map { "registrations: \($0)" } ?? []
        let lines = (status.isReady ? ["ok"] : status.reasons) + held + registrations + fleet
        return .text(status.isReady ? 200 : 503, lines.map { $0 + "\n" }.joined())
    }

    private static func scope(of request: AdminRequest) throws(AdminError) -> PauseScope {
        try PauseScope({ request.query($0) }, exclude: { AdminError(400, "\($0) and \($1) are mutually exclusive") })
    }
}

extension AdminResponse {
    static func text(_ status: Int, _ text: String) -> AdminResponse {
        AdminResponse(status: status, contentType: "text/plain; charset=utf-8", body: Array(text.utf8))
    }

    /// Returns a response in Prometheus' text format (https://prometheus.io/docs/instrumenting/exposition_formats).
    fileprivate static func metrics(_ text: String) -> AdminResponse {
        AdminResponse(contentType: "text/plain; version=0.0.4; charset=utf-8", body: Array(text.utf8))
    }
}
