import APNSProtocol
import JSON

/// What there is to say of one open connection.
public struct ConnectionSummary: Sendable, Hashable {
    public var number: Int
    public var service: Service
    /// When it was accepted, by the simulator's clock.
    public var sinceUnixMilliseconds: Int64
    /// Whom its first push with a valid token has bound it to.
    public var teamID: String?
    public var keyID: String?
    public var streamsOpen: Int
    /// As last announced to the client.
    public var streamsMax: Int
    /// Requests that arrived whole.
    public var requests: Int
    /// Answers other than success.
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
