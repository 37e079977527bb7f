import AdminHTTP
import JSON

/// What was counted: `/v1/counters` as JSON, `/metrics` for Prometheus.
struct CounterRoutes {
    let server: SimulatorServer

    var all: [AdminRoute] {
        [
            AdminRoute(.get, "/v1/counters", "what was counted") { [server] _ in
                .object { server.counters.write(to: &$0) }
            },
            AdminRoute(.get, "/metrics", "the same for Prometheus") { [server] _ in
                AdminResponse(
                    contentType: "text/plain; version=0.0.4; charset=utf-8",
                    body: Array(SimulatorMetrics(server.counters, faultsInForce: server.faults.entries.count).text.utf8)
                )
            },
        ]
    }
}
