import APNSProtocol
import AdminHTTP
public import JSON

/// What a simulator has counted since it began, or since its memory was emptied.
public struct Counters: Sendable, Hashable {
    /// What was counted of one service.
    public struct OfService: Sendable, Hashable {
        /// Requests that arrived whole.
        public internal(set) var requests = 0
        /// Answers with status 200, 201 or 204.
        public internal(set) var accepted = 0
        public internal(set) var refused = 0
    }

    /// Reasons that APNs does not know, of which answers are counted by name.
    static let unknownReasonsMax = 64

    /// When it began to count, by the machine's clock.
    public internal(set) var sinceUnixMilliseconds: Int64 = 0
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
    /// Requests that broke the rules of HTTP, so that their stream was reset.
    public internal(set) var requestsMalformed = 0
    /// Requests whose stream ended before they were answered.
    public internal(set) var requestsAbandoned = 0
    /// Signatures of provider tokens that were checked.
    public internal(set) var tokensVerified = 0
    /// Requests without an `apns-id`, or with one that is no UUID.
    public internal(set) var requestsWithoutID = 0
    public internal(set) var distinctIDs = 0
    /// Requests whose `apns-id` came before.
    public internal(set) var duplicateIDs = 0
    /// Ids that were forgotten to make room; a request that comes again with one counts as new.
    public internal(set) var idsForgotten = 0
    /// Answers with status 200, 201 or 204.
    public internal(set) var accepted = 0
    /// Other answers by status.
    public private(set) var refusedByStatus: [Int: Int] = [:]
    private var refusals: [Reason: Int] = [:]
    private var otherRefusals = 0
    /// How long whole requests waited for their answer.
    public private(set) var latencies = Latencies()
    private var services = Array(repeating: OfService(), count: Service.all.count)
    private var struck: [String: Int] = [:]
    private var ends: [ConnectionEnd: Int] = [:]
    /// Connections that the admin port closed before their clients had an answer.
    private(set) var adminClosings: [AdminClosing: Int] = [:]

    /// Other answers by reason.
    public var refusedByReason: [String: Int] {
        var counts: [String: Int] = [:]
        for (reason, count) in refusals { counts[reason.text, default: 0] += count }
        if otherRefusals > 0 { counts["other"] = otherRefusals }
        return counts
    }

    /// How often faults struck, by the word for what they do.
    public var faultsByAction: [String: Int] { struck }

    /// How connections ended.
    public var connectionsByEnd: [ConnectionEnd: Int] { ends }

    public subscript(service: Service) -> OfService { services[service.index] }

    mutating func countRequest(of service: Service, bodyBytes: Int) {
        requests += 1
        self.bodyBytes += bodyBytes
        services[service.index].requests += 1
        inFlight += 1
        inFlightMax = max(inFlightMax, inFlight)
    }

    /// - Parameter latency: since the request had arrived whole.
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

    /// - Parameter action: the word for what it does.
    mutating func countFault(_ action: String) { struck[action, default: 0] += 1 }

    mutating func count(_ end: ConnectionEnd) { ends[end, default: 0] += 1 }

    mutating func countAdminClosing(_ cause: AdminClosing) { adminClosings[cause, default: 0] += 1 }

    /// Begins anew, but for what is open and in flight now.
    mutating func restart(atUnixMilliseconds time: Int64) {
        let old = self
        self = Counters()
        sinceUnixMilliseconds = time
        (connectionsOpen, connectionsOpenMax) = (old.connectionsOpen, old.connectionsOpen)
        (inFlight, inFlightMax) = (old.inFlight, old.inFlight)
    }

    /// Adds them as members of a JSON object that is open.
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
    /// All there are, by their index.
    static let all = APNSEnvironment.allCases.flatMap { environment in
        Kind.allCases.map { Service(environment, $0) }
    }

    /// Its place in ``all``.
    var index: Int { (environment == .production ? 0 : 2) + (kind == .push ? 0 : 1) }
}

extension Reason {
    fileprivate var isUnknown: Bool {
        if case .unknown = self { true } else { false }
    }
}
