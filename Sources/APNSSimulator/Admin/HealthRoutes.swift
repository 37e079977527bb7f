import AdminHTTP
import JSON

/// `/health` and `/v1/ready`, for those who wait until it is there, or come later.
struct HealthRoutes {
    let server: SimulatorServer

    var all: [AdminRoute] {
        [
            AdminRoute(.get, "/health", "whether it is alive") { _ in
                .object { json in
                    json.member("status", "ok")
                    json.member("version", SimulatorProgram.version)
                }
            },
            AdminRoute(.get, "/v1/ready", "what it said when it was ready: ports, key, and files for clients") { _ in
                .json(Array(server.readyLine.utf8) + [UInt8(ascii: "\n")])
            },
        ]
    }
}
