import APNSProtocol
import AdminHTTP
import JSON

/// The routes of `/v1/channels`, the channels of all apps. Providers can also create and delete channels through the
/// channel management service.
struct ChannelRoutes {
    let server: SimulatorServer

    var all: [AdminRoute] {
        [
            AdminRoute(.get, "/v1/channels", query: ["app", "environment"], "the channels, the oldest first") {
                request throws(AdminError) in
                let environment = try request.word("environment") as APNSEnvironment?
                let channels = server.state.allChannels.filter {
                    (request.query("app") ?? $0.bundleID) == $0.bundleID
                        && (environment ?? $0.environment) == $0.environment
                }
                let codec = server.stateCodec.channel
                return .object { json in json.list("channels", channels) { codec.write($1, to: &$0) } }
            },
            AdminRoute(
                .put, "/v1/channels/ID", query: ["app", "environment"],
                #"creates or replaces the channel with this ID: {"storage_policy": 0 or 1}"#
            ) { request throws(AdminError) in
                let channel = try channel(of: request)
                server.state.add(channel)
                return .value { server.stateCodec.channel.write(channel, to: &$0) }
            },
            AdminRoute(.delete, "/v1/channels/ID", query: ["app", "environment"], "deletes a channel") {
                request throws(AdminError) in
                let (bundleID, environment) = try appAndEnvironment(of: request)
                guard
                    server.state.removeChannel(
                        id: request.parameter("ID"), bundleID: bundleID, environment: environment) != nil
                else { throw AdminError(404, "app \(bundleID) has no channel with this ID in \(environment.rawValue)") }
                return .deleted
            },
        ]
    }

    private func channel(of request: AdminRequest) throws(AdminError) -> Channel {
        let (bundleID, environment) = try appAndEnvironment(of: request)
        let id = request.parameter("ID")
        guard Channel.isWellFormedID(Array(id.utf8)) else {
            throw AdminError(400, "the channel ID must be base64 of at most \(Channel.idBytesMax) characters")
        }
        guard server.state.allowsBroadcasts(bundleID: bundleID) else {
            throw AdminError(
                409,
                "app \(bundleID) does not exist or may not broadcast; PUT /v1/teams/TEAM/apps/\(bundleID) with "
                    + "broadcast true, where TEAM is the app's team")
        }
        return try request.read { value throws(InputError) in
            var channel = Channel(id: id, bundleID: bundleID, environment: environment, storagePolicy: .none)
            try server.stateCodec.channel.read(value, into: &channel, .identified)
            return channel
        }
    }

    private func appAndEnvironment(
        of request: AdminRequest
    ) throws(AdminError) -> (bundleID: String, environment: APNSEnvironment) {
        guard let bundleID = request.query("app"), let environment = try request.word("environment") as APNSEnvironment?
        else {
            throw AdminError(400, "the query must name the app and the environment: ?app=BUNDLE&environment=sandbox")
        }
        return (bundleID, environment)
    }
}
