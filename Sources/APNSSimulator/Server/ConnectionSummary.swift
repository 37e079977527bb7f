import APNSProtocol
import JSON

/// The state of one open connection.
public struct ConnectionSummary: Sendable, Hashable {
    public var number: Int
    public var service: Service
    /// The time at which the simulator accepted the connection, by the simulator's clock.
    public var sinceUnixMilliseconds: Int64
    /// The team that the first request with a valid token has bound the connection to; nil before that request.
    public var teamID: String?
    public var keyID: String?
    public var streamsOpen: Int
    /// The last announced limit of streams.
    public var streamsMax: Int
    /// Number of complete requests.
    public var requests: Int
    /// Number of answers with status 400 or above.
    public var errors: Int

    func write(to json: inout JSONWriter) {
        json.beginObject()
        json.member("number", number)
        service.write(to: &json)
        json.member("since_unix_ms", sinceUnixMilliseconds)
        if let teamID { json.member("team_id", teamID) }
        if let keyID { json.member("key_id", keyID) }
        json.member("streams_open", streamsOpen)
        json.member("streams_max", streamsMax)
        json.member("requests", requests)
        json.member("errors", errors)
        json.endObject()
    }
}
