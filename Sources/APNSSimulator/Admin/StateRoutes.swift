import AdminHTTP
import EventLoop
import JSON

/// `/v1/state`, `/v1/rules` and `/v1/reset`: all that the simulator is told of its world.
struct StateRoutes {
    let server: SimulatorServer

    var all: [AdminRoute] {
        [
            AdminRoute(.get, "/v1/state", "all that it knows of its world, as PUT takes it back") { _ in state },
            AdminRoute(.put, "/v1/state", "makes it know another world, in the shape of a state file") {
                request throws(AdminError) in
                server.become(
                    try request.read { value throws(InputError) in try server.stateCodec.document.read(value) })
                return state
            },
            AdminRoute(.get, "/v1/rules", "the switches of its rules") { _ in rules },
            AdminRoute(.put, "/v1/rules", "changes the switches that are named") { request throws(AdminError) in
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
                "as it was when it started: state, faults, clock and memory; with keep=state the state stays"
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
    /// For what comes over HTTP: it names no files, and what is said to be inactive is so from now on.
    var stateCodec: StateCodec { StateCodec(sinceMilliseconds: now.unixMilliseconds) }
}
