import AdminHTTP
import JSON

/// The routes `/health` and `/v1/ready`, for clients that wait for the simulator or need its ready line.
struct HealthRoutes {
    let server: SimulatorServer

    var all: [AdminRoute] {
        [
            AdminRoute(.get, "/health", "whether the simulator is alive") { _ in
                .object { json in
                    json.member("status", "ok")
                    json.member("version", SimulatorProgram.version)
                }
            },
            AdminRoute(.get, "/v1/ready", "the ready line: ports, key, and files for clients") { _ in
                .json(Array(server.readyLine.utf8) + [UInt8(ascii: "\n")])
            },
        ]
    }
}
