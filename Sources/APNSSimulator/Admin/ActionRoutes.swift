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
        let (connection, count) = try request.read { value throws(InputError) in
            let order = try ActionOrder.codec.read(value)
            return (order.connection, try server.perform(order.action, on: order.connection))
        }
        if let connection, count == 0 { throw AdminError(404, "no connection \(connection) is open") }
        return .object { $0.member("connections", count) }
    }
}

/// An action, and where it is to be applied.
private struct ActionOrder: Sendable {
    var action = FaultAction.closeConnection
    /// nil: to all connections.
    var connection: Int?

    static let codec = ObjectCodec(
        "an order", from: ActionOrder(),
        [
            .required("action", \.action, FaultAction.codec.value, "the effect"),
            .optional("connection", \.connection, .int(1...Int.max), "number of the connection; all without it"),
        ],
        check: { order, members throws(InputError) in
            guard order.action.isForConnections else {
                throw members.error("action", "\(order.action.name) happens to requests: POST it to /v1/faults")
            }
        })
}
