import AdminHTTP
import JSON

/// `/health`, for those who wait until it is there.
struct HealthRoutes {
    let server: SimulatorServer

    var all: [AdminRoute] {
        [
            AdminRoute(.get, "/health", "whether it is alive") { _ in
                .object { json in
                    json.member("status", "ok")
                    json.member("version", SimulatorCommand.version)
                }
            }
        ]
    }
}
