import APNSProtocol
import JSON

/// What a simulator has counted since it began.
public struct Counters: Sendable, Hashable {
    public internal(set) var connections = 0
    public internal(set) var connectionsOpen = 0
    public internal(set) var connectionsOpenMax = 0
    /// Requests that arrived whole.
    public internal(set) var requests = 0
    /// Requests that arrived whole and are not answered yet.
    public internal(set) var inFlight = 0
    public internal(set) var inFlightMax = 0
    public internal(set) var bodyBytes = 0
    /// Streams that were refused because the connection may not have so many.
    public internal(set) var streamsRefused = 0
    /// Requests whose stream ended before they were answered.
    public internal(set) var requestsAbandoned = 0
    /// Signatures of provider tokens that were checked.
    public internal(set) var tokensVerified = 0
    /// Requests without an `apns-id`, or with one that is no UUID.
    public internal(set) var requestsWithoutID = 0
    public internal(set) var distinctIDs = 0
    /// Requests whose `apns-id` came before.
    public internal(set) var duplicateIDs = 0
    /// Requests whose `apns-id` was not remembered, because the set of ids is full.
    public internal(set) var idsNotRemembered = 0
    /// Answers with status 200, 201 or 204.
    public internal(set) var accepted = 0
    /// Other answers by status.
    public private(set) var refusedByStatus: [Int: Int] = [:]
    /// Other answers by reason.
    public private(set) var refusedByReason: [String: Int] = [:]

    mutating func count(_ answer: Answer) {
        guard !answer.isSuccess else {
            accepted += 1
            return
        }
        refusedByStatus[answer.status, default: 0] += 1
        if let reason = answer.reason { refusedByReason[reason.text, default: 0] += 1 }
    }

    /// Adds them as members of a JSON object that is open.
    func write(to json: inout JSONWriter) {
        json.member("connections", connections)
        json.member("connections_open", connectionsOpen)
        json.member("connections_open_max", connectionsOpenMax)
        json.member("requests", requests)
        json.member("in_flight", inFlight)
        json.member("in_flight_max", inFlightMax)
        json.member("body_bytes", bodyBytes)
        json.member("streams_refused", streamsRefused)
        json.member("requests_abandoned", requestsAbandoned)
        json.member("tokens_verified", tokensVerified)
        json.member("requests_without_id", requestsWithoutID)
        json.member("distinct_ids", distinctIDs)
        json.member("duplicate_ids", duplicateIDs)
        json.member("ids_not_remembered", idsNotRemembered)
        json.member("accepted", accepted)
        let statuses = refusedByStatus.sorted { $0.key < $1.key }
        json.key("refused_by_status")
        Self.write(statuses.map { (String($0.key), $0.value) }, to: &json)
        json.key("refused_by_reason")
        Self.write(refusedByReason.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }, to: &json)
    }

    private static func write(_ counts: [(String, Int)], to json: inout JSONWriter) {
        json.beginObject()
        for (name, count) in counts {
            json.key(name)
            json.int(Int64(count))
        }
        json.endObject()
    }
}
