import APNSProtocol

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
    /// Answers with status 200.
    public internal(set) var accepted = 0
    /// Other answers by status.
    public private(set) var refusedByStatus: [Int: Int] = [:]
    /// Other answers by reason.
    public private(set) var refusedByReason: [String: Int] = [:]

    mutating func count(_ answer: Answer) {
        guard let reason = answer.reason else {
            accepted += 1
            return
        }
        refusedByStatus[answer.status, default: 0] += 1
        refusedByReason[reason.text, default: 0] += 1
    }

    /// One JSON object on one line.
    public var json: String {
        let numbers = [
            ("connections", connections), ("connections_open", connectionsOpen),
            ("connections_open_max", connectionsOpenMax), ("requests", requests), ("in_flight", inFlight),
            ("in_flight_max", inFlightMax), ("body_bytes", bodyBytes), ("streams_refused", streamsRefused),
            ("requests_abandoned", requestsAbandoned), ("tokens_verified", tokensVerified),
            ("requests_without_id", requestsWithoutID), ("distinct_ids", distinctIDs),
            ("duplicate_ids", duplicateIDs), ("ids_not_remembered", idsNotRemembered), ("accepted", accepted),
        ]
        let statuses = refusedByStatus.sorted { $0.key < $1.key }.map { (String($0.key), $0.value) }
        let reasons = refusedByReason.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
        return """
            {\(Self.members(numbers)),"refused_by_status":{\(Self.members(statuses))},\
            "refused_by_reason":{\(Self.members(reasons))}}
            """
    }

    /// Names are our own words, or reasons made printable: none needs an escape but the quote of an unknown reason,
    /// which this simulator never answers.
    private static func members(_ counts: [(String, Int)]) -> String {
        counts.map { "\"\($0)\":\($1)" }.joined(separator: ",")
    }
}
