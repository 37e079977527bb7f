import APNSProtocol
import AdminHTTP
public import JSON

/// The counters of a simulator since its start or its last reset.
public struct Counters: Sendable, Hashable {
    /// The counters of one service.
    public struct OfService: Sendable, Hashable {
        /// Complete requests.
        public internal(set) var requests = 0
        /// Answers with a status from 200 to 299.
        public internal(set) var accepted = 0
        /// Answers with a status of 300 or above.
        public internal(set) var refused = 0
    }

    /// Maximum number of unknown reasons with their own counters, if each known reason has a counter. While known
    /// reasons are missing, more unknown reasons get counters. Known reasons always have their own counters.
    static let unknownReasonsMax = 64

    /// The time at which counting began, by the machine's clock.
    public internal(set) var sinceUnixMilliseconds: Int64 = 0
    public internal(set) var connections = 0
    public internal(set) var connectionsOpen = 0
    public internal(set) var connectionsOpenMax = 0
    /// Complete requests.
    public internal(set) var requests = 0
    /// Complete requests without an answer yet.
    public internal(set) var inFlight = 0
    public internal(set) var inFlightMax = 0
    public internal(set) var bodyBytes = 0
    /// Streams refused because the connection or the simulator was at its limit.
    public internal(set) var streamsRefused = 0
    /// Requests that violated HTTP. The simulator reset their streams.
    public internal(set) var requestsMalformed = 0
    /// Complete requests whose stream ended before the answer.
    public internal(set) var requestsAbandoned = 0
    /// Verifications of provider tokens, including failed ones. Uses of a connection's cached token do not count.
    public internal(set) var tokensVerified = 0
    /// Complete requests in which neither `apns-id` nor `apns-request-id` is a UUID.
    public internal(set) var requestsWithoutID = 0
    public internal(set) var distinctIDs = 0
    /// Requests whose ID an earlier request had, except requests that a fault left unprocessed.
    public internal(set) var duplicateIDs = 0
    /// IDs discarded to make room. A later request with a discarded ID counts as new.
    public internal(set) var idsForgotten = 0
    /// Answers with a status from 200 to 299.
    public internal(set) var accepted = 0
    /// Answers with a status of 300 or above, by status.
    public private(set) var refusedByStatus: [Int: Int] = [:]
    private var refusals: [Reason: Int] = [:]
    private var otherRefusals = 0
    /// Times from complete requests to their answers.
    public private(set) var latencies = Latencies()
    private var services = Array(repeating: OfService(), count: Service.all.count)
    private var struck: [String: Int] = [:]
    private var ends: [ConnectionEnd: Int] = [:]
    /// Connections that the admin port closed because of a limit, by cause.
    private(set) var adminClosings: [AdminClosing: Int] = [:]

    /// Answers with a status of 300 or above and a reason, by reason. Unknown reasons above the limit count as `other`.
    public var refusedByReason: [String: Int] {
        var counts: [String: Int] = [:]
        for (reason, count) in refusals { counts[reason.text, default: 0] += count }
        if otherRefusals > 0 { counts["other"] = otherRefusals }
        return counts
    }

    /// Number of times that faults applied, by action.
    public var faultsByAction: [String: Int] { struck }

    /// Ended connections, by cause.
    public var connectionsByEnd: [ConnectionEnd: Int] { ends }

    public subscript(service: Service) -> OfService { services[service.index] }

    mutating func countRequest(of service: Service, bodyBytes: Int) {
        requests += 1
        self.bodyBytes += bodyBytes
        services[service.index].requests += 1
        inFlight += 1
        inFlightMax = max(inFlightMax, inFlight)
    }

    /// Counts an answer.
    ///
    /// - Parameter latency: time since the request was complete.
    mutating func count(_ answer: Answer, of service: Service, after latency: Duration) {
        latencies.count(latency)
        guard !answer.isSuccess else {
            accepted += 1
            services[service.index].accepted += 1
            return
        }
        services[service.index].refused += 1
        refusedByStatus[answer.status, default: 0] += 1
        guard let reason = answer.reason else { return }
        if refusals[reason] == nil, reason.isUnknown, refusals.count >= Reason.known.count + Self.unknownReasonsMax {
            otherRefusals += 1
        } else {
            refusals[reason, default: 0] += 1
        }
    }

    /// Counts a fault that applied.
    ///
    /// - Parameter action: name of the fault's action.
    mutating func countFault(_ action: String) { struck[action, default: 0] += 1 }

    mutating func count(_ end: ConnectionEnd) { ends[end, default: 0] += 1 }

    mutating func countAdminClosing(_ cause: AdminClosing) { adminClosings[cause, default: 0] += 1 }

    /// Resets the counters. Keeps the numbers of open connections and of requests in flight, which are also the new
    /// maximums.
    mutating func restart(atUnixMilliseconds time: Int64) {
        let old = self
        self = Counters()
        sinceUnixMilliseconds = time
        (connectionsOpen, connectionsOpenMax) = (old.connectionsOpen, old.connectionsOpen)
        (inFlight, inFlightMax) = (old.inFlight, old.inFlight)
    }

    /// Writes the counters as members of the current JSON object.
    public func write(to json: inout JSONWriter) {
        json.member("since_unix_ms", sinceUnixMilliseconds)
        json.member("connections", connections)
        json.member("connections_open", connectionsOpen)
        json.member("connections_open_max", connectionsOpenMax)
        json.member("requests", requests)
        json.member("in_flight", inFlight)
        json.member("in_flight_max", inFlightMax)
        json.member("body_bytes", bodyBytes)
        json.member("streams_refused", streamsRefused)
        json.member("requests_malformed", requestsMalformed)
        json.member("requests_abandoned", requestsAbandoned)
        json.member("tokens_verified", tokensVerified)
        json.member("requests_without_id", requestsWithoutID)
        json.member("distinct_ids", distinctIDs)
        json.member("duplicate_ids", duplicateIDs)
        json.member("ids_forgotten", idsForgotten)
        json.member("accepted", accepted)
        json.key("refused_by_status")
        Self.write(refusedByStatus.sorted { $0.key < $1.key }.map { (String($0.key), $0.value) }, to: &json)
        json.key("refused_by_reason")
        Self.write(refusedByReason.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }, to: &json)
        json.beginObject("services")
        for service in Service.all where self[service] != OfService() {
            json.key(service.description)
            let counts = self[service]
            Self.write(
                [("requests", counts.requests), ("accepted", counts.accepted), ("refused", counts.refused)], to: &json)
        }
        json.endObject()
        json.key("faults_by_action")
        Self.write(faultsByAction.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }, to: &json)
        json.key("connections_by_end")
        Self.write(
            connectionsByEnd.sorted { $0.key.rawValue < $1.key.rawValue }.map { ($0.key.rawValue, $0.value) },
            to: &json)
        json.key("admin_connections_closed")
        Self.write(
            adminClosings.sorted { $0.key.rawValue < $1.key.rawValue }.map { ($0.key.rawValue, $0.value) }, to: &json)
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

extension Service {
    /// All services, in the order of ``index``.
    static let all = APNSEnvironment.allCases.flatMap { environment in
        Kind.allCases.map { Service(environment, $0) }
    }

    /// The service's position in ``all``.
    var index: Int { (environment == .production ? 0 : 2) + (kind == .push ? 0 : 1) }
}

extension Reason {
    fileprivate var isUnknown: Bool {
        if case .unknown = self { true } else { false }
    }
}
