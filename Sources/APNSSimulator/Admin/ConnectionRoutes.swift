import AdminHTTP
import JSON

/// The route `/v1/connections`, which lists the open connections and the newest failed connections.
struct ConnectionRoutes {
    let server: SimulatorServer

    var all: [AdminRoute] {
        [
            AdminRoute(.get, "/v1/connections", "open connections, and the causes of the newest failed connections") {
                [server] _ in
                .object { json in
                    json.beginArray("connections")
                    for connection in server.openConnections { connection.write(to: &json) }
                    json.endArray()
                    json.beginArray("failures")
                    for failure in server.failures.newest { failure.write(to: &json) }
                    json.endArray()
                }
            }
        ]
    }
}
