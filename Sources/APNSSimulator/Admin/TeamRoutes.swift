import AdminHTTP
import JSON

/// `/v1/teams`: teams with their apps, keys and certificates.
struct TeamRoutes {
    let server: SimulatorServer

    var all: [AdminRoute] { teams + keys + apps }

    private var teams: [AdminRoute] {
        [
            AdminRoute(.get, "/v1/teams", "the teams with all that they have") { _ in listed },
            AdminRoute(.get, "/v1/teams/ID", "one of them") { request throws(AdminError) in
                shown(try teamID(of: request))
            },
            AdminRoute(
                .put, "/v1/teams/ID", #"makes or exchanges one: {"apps": […], "keys": […], "certificates": […]}"#
            ) { request throws(AdminError) in
                let id = request.parameter("ID")
                try request.read(canBeEmpty: true) { value throws(InputError) in
                    let codec = server.stateCodec.team
                    try server.state.exchangeTeam(id: id) { state throws(InputError) in
                        var team = StateTeam(state: state, id: id)
                        try codec.read(value, into: &team, .identified)
                        state = team.state
                        state.addTeam(id: id)
                    }
                }
                return shown(id)
            },
            AdminRoute(.delete, "/v1/teams/ID", "forgets one and all that it has") { request throws(AdminError) in
                server.state.removeTeam(id: try teamID(of: request))
                return .deleted
            },
        ]
    }

    private var keys: [AdminRoute] {
        [
            AdminRoute(
                .put, "/v1/teams/ID/keys/KEY",
                #"registers or changes a key: {"public_key": PEM, "revoked": true, …}; what is not named stays"#
            ) { request throws(AdminError) in
                let (teamID, id) = (try teamID(of: request), request.parameter("KEY"))
                let known = server.state.key(id: id)
                if let known, known.teamID != teamID {
                    throw AdminError(409, "the key \(id) is team \(known.teamID)'s")
                }
                server.state.add(
                    try request.read { value throws(InputError) in
                        var key = known.map { KeyMembers($0) } ?? KeyMembers(id: id)
                        try server.stateCodec.key.read(value, into: &key, known == nil ? .identified : .changes)
                        return try key.key(teamID: teamID)
                    })
                return shown(teamID)
            },
            AdminRoute(.delete, "/v1/teams/ID/keys/KEY", "forgets a key") { request throws(AdminError) in
                let (teamID, id) = (try teamID(of: request), request.parameter("KEY"))
                guard server.state.key(id: id)?.teamID == teamID else {
                    throw AdminError(404, "team \(teamID) has no key \(id)")
                }
                server.state.removeKey(id: id)
                return .deleted
            },
        ]
    }

    private var apps: [AdminRoute] {
        [
            AdminRoute(
                .put, "/v1/teams/ID/apps/BUNDLE",
                #"gives the team an app, maybe another team's: {"broadcast": true}; without, its channels go"#
            ) { request throws(AdminError) in
                let teamID = try teamID(of: request)
                let app = try request.read(canBeEmpty: true) { value throws(InputError) in
                    var app = AppMembers(bundleID: request.parameter("BUNDLE"))
                    try server.stateCodec.app.read(value, into: &app, .identified)
                    return app
                }
                server.state.addApp(
                    bundleID: app.bundleID, teamID: teamID, allowsBroadcasts: app.allowsBroadcasts)
                return shown(teamID)
            },
            AdminRoute(.delete, "/v1/teams/ID/apps/BUNDLE", "takes an app and its channels away") {
                request throws(AdminError) in
                let (teamID, bundleID) = (try teamID(of: request), request.parameter("BUNDLE"))
                guard server.state.app(bundleID: bundleID)?.teamID == teamID else {
                    throw AdminError(404, "team \(teamID) has no app \(bundleID)")
                }
                server.state.removeApp(bundleID: bundleID)
                return .deleted
            },
        ]
    }

    private var listed: AdminResponse {
        let codec = server.stateCodec.team
        return .object { json in
            json.list("teams", server.state.teamIDs) { json, id in
                codec.write(StateTeam(state: server.state, id: id), to: &json)
            }
        }
    }

    private func shown(_ teamID: String) -> AdminResponse {
        .value { server.stateCodec.team.write(StateTeam(state: server.state, id: teamID), to: &$0) }
    }

    /// - Throws: 404 when there is no such team.
    private func teamID(of request: AdminRequest) throws(AdminError) -> String {
        let id = request.parameter("ID")
        guard server.state.knowsTeam(id: id) else { throw AdminError(404, "there is no team \(id)") }
        return id
    }
}
