import AdminHTTP
import JSON

/// `/v1/connections`: those that are open.
struct ConnectionRoutes {
    let server: SimulatorServer

    var all: [AdminRoute] {
        [
            AdminRoute(.get, "/v1/connections", "the connections that are open") { [server] _ in
                .object { json in
                    json.beginArray("connections")
                    for connection in server.openConnections { connection.write(to: &json) }
                    json.endArray()
                }
            }
        ]
    }
}
