import AdminHTTP
import JSON

/// The route `/v1/actions`, which applies an action to open connections immediately.
struct ActionRoutes {
    let server: SimulatorServer

    var all: [AdminRoute] {
        [
            AdminRoute(
                .post, "/v1/actions", #"applies an action to connections immediately: {"action": …, "connection": N}"#
            ) {
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

/// An action and the connections that it applies to.
private struct ActionOrder: Sendable {
    var action = FaultAction.closeConnection
    /// Number of the connection; nil for all connections.
    var connection: Int?

    static let codec = ObjectCodec(
        "an order", from: ActionOrder(),
        [
            .required("action", \.action, FaultAction.codec.value, "the effect"),
            .optional("connection", \.connection, .int(1...Int.max), "number of the connection (default: all)"),
        ],
        check: { order, members throws(InputError) in
            guard order.action.isForConnections else {
                throw members.error(
                    "action", "\(order.action.name) applies to requests only; POST a fault to /v1/faults")
            }
        })
}
