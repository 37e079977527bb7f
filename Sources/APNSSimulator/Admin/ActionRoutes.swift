import AdminHTTP
import JSON

/// `/v1/actions`: what is done to connections at once.
struct ActionRoutes {
    let server: SimulatorServer

    var all: [AdminRoute] {
        [
            AdminRoute(.post, "/v1/actions", #"does something to connections: {"action": …, "connection": N}"#) {
                request throws(AdminError) in
                try perform(request)
            }
        ]
    }

    private func perform(_ request: AdminRequest) throws(AdminError) -> AdminResponse {
        let (connection, count) = try request.read { value throws(InputError) -> (Int?, Int) in
            let members = try Members(value, "what is to be done", known: ["action", "connection"])
            guard let value = members["action"] else { throw members.error("action", "says what is to be done") }
            let connection = try members.int("connection", 1...Int.max)
            let action = try FaultReader().action(value)
            guard action.isForConnections else {
                throw members.error("action", "\(action.name) happens to requests: POST it to /v1/faults")
            }
            return (connection, try server.perform(action, on: connection))
        }
        if let connection, count == 0 { throw AdminError(404, "no connection \(connection) is open") }
        return .object { $0.member("connections", count) }
    }
}
