import AdminHTTP
import JSON

/// The routes of `/v1/teams`, the teams with their apps, keys and certificates.
struct TeamRoutes {
    let server: SimulatorServer

    var all: [AdminRoute] { teams + keys + apps }

    private var teams: [AdminRoute] {
        [
            AdminRoute(.get, "/v1/teams", "the teams with their apps, keys and certificates") { _ in listed },
            AdminRoute(.get, "/v1/teams/ID", "a team") { request throws(AdminError) in
                shown(try teamID(of: request))
            },
            AdminRoute(
                .put, "/v1/teams/ID", #"creates or replaces a team: {"apps": […], "keys": […], "certificates": […]}"#
            ) { request throws(AdminError) in
                let id = request.parameter("ID")
                try request.read(canBeEmpty: true) { value throws(InputError) in
                    let codec = server.stateCodec.team
                    try server.state.replaceTeam(id: id) { state throws(InputError) in
                        var team = StateTeam(state: state, id: id)
                        try codec.read(value, into: &team, .identified)
                        state = team.state
                        state.addTeam(id: id)
                    }
                }
                return shown(id)
            },
            AdminRoute(.delete, "/v1/teams/ID", "removes a team with its apps, keys and certificates") {
                request throws(AdminError) in
                server.state.removeTeam(id: try teamID(of: request))
                return .deleted
            },
        ]
    }

    private var keys: [AdminRoute] {
        [
            AdminRoute(
                .put, "/v1/teams/ID/keys/KEY",
                #"registers or changes a key: {"public_key": PEM, "revoked": true, …}"#
            ) { request throws(AdminError) in
                let (teamID, id) = (try teamID(of: request), request.parameter("KEY"))
                let known = server.state.key(id: id)
                if let known, known.teamID != teamID {
                    throw AdminError(409, "key \(id) belongs to team \(known.teamID)")
                }
                server.state.add(
                    try request.read { value throws(InputError) in
                        var key = known.map { KeyMembers($0) } ?? KeyMembers(id: id)
                        try server.stateCodec.key.read(value, into: &key, known == nil ? .identified : .changes)
                        return try key.key(teamID: teamID)
                    })
                return shown(teamID)
            },
            AdminRoute(.delete, "/v1/teams/ID/keys/KEY", "removes a key") { request throws(AdminError) in
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
                #"adds or moves an app to the team; deletes the app's channels unless the body is {"broadcast": true}"#
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
            AdminRoute(.delete, "/v1/teams/ID/apps/BUNDLE", "removes an app and its channels") {
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

    /// Returns the team ID in the path.
    ///
    /// - Throws: status 404 if the team does not exist.
    private func teamID(of request: AdminRequest) throws(AdminError) -> String {
        let id = request.parameter("ID")
        guard server.state.hasTeam(id: id) else { throw AdminError(404, "team \(id) does not exist") }
        return id
    }
}
