import AdminHTTP
import EventLoop
import JSON

/// The routes `/v1/state`, `/v1/rules` and `/v1/reset`, for the state, the switches and the reset of the simulator.
struct StateRoutes {
    let server: SimulatorServer

    var all: [AdminRoute] {
        [
            AdminRoute(.get, "/v1/state", "the complete state, in the form that PUT accepts") { _ in state },
            AdminRoute(.put, "/v1/state", "replaces the state; the body has the form of a state file") {
                request throws(AdminError) in
                server.replaceState(
                    with: try request.read { value throws(InputError) in
                        try server.stateCodec.document.read(value)
                    })
                return state
            },
            AdminRoute(.get, "/v1/rules", "the switches") { _ in rules },
            AdminRoute(.put, "/v1/rules", "changes the switches that the body contains") { request throws(AdminError) in
                server.state.rules = try request.read { value throws(InputError) in
                    var rules = server.state.rules
                    try RuleOptions.codec.read(value, into: &rules)
                    return rules
                }
                server.watchIdle()
                return rules
            },
            AdminRoute(
                .post, "/v1/reset", query: ["keep"],
                "restores the initial state of the simulator; keep=state keeps the state and the switches"
            ) { request throws(AdminError) in
                server.reset(keepsState: try request.word("keep") as Keepable? == .state)
                return .object { $0.member("reset", true) }
            },
        ]
    }

    private enum Keepable: String, CaseIterable { case state }

    private var state: AdminResponse { .value { server.document.write(to: &$0) } }

    private var rules: AdminResponse { .value { RuleOptions.codec.write(server.state.rules, to: &$0) } }
}

extension SimulatorServer {
    /// The codec for states in HTTP requests. A state in a request cannot refer to files. An inactive device without a
    /// time became inactive at the time of the request.
    var stateCodec: StateCodec { StateCodec(sinceMilliseconds: now.unixMilliseconds) }
}
