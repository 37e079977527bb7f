import AdminHTTP
import JSON

/// The routes of the counters, `/v1/counters` for JSON and `/metrics` for Prometheus.
struct CounterRoutes {
    let server: SimulatorServer

    var all: [AdminRoute] {
        [
            AdminRoute(.get, "/v1/counters", "the counters") { [server] _ in
                .object { server.counters.write(to: &$0) }
            },
            AdminRoute(.get, "/metrics", "the counters for Prometheus") { [server] _ in
                AdminResponse(
                    contentType: "text/plain; version=0.0.4; charset=utf-8",
                    body: Array(SimulatorMetrics(server.counters, faultsInForce: server.faults.entries.count).text.utf8)
                )
            },
        ]
    }
}
