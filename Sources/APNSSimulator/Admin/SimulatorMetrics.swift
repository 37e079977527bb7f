import APNSProtocol
import AdminHTTP
import Telemetry

/// A simulator's counters as Prometheus metrics.
struct SimulatorMetrics {
    private let registry = MetricsRegistry()

    /// The metrics in Prometheus' text format 0.0.4.
    var text: String { registry.render() }

    /// Creates the metrics with the current values of the counters.
    ///
    /// - Parameter faultsInForce: number of faults in force.
    init(_ counters: Counters, faultsInForce: Int) {
        count("connections", "Connections accepted.", counters.connections)
        gauge("connections_open", "Open connections.", counters.connectionsOpen)
        for end in ConnectionEnd.allCases {
            count(
                "connections_ended", "Connections that ended, by cause.", counters.connectionsByEnd[end] ?? 0,
                ["end": end.rawValue])
        }
        for cause in AdminClosing.allCases {
            count(
                "admin_connections_closed",
                "Connections that the admin port closed before the client received a response.",
                counters.adminClosings[cause] ?? 0, ["cause": cause.rawValue])
        }
        for service in Service.all {
            count(
                "requests", "Complete requests.", counters[service].requests,
                ["environment": service.environment.rawValue, "service": service.kind.rawValue])
        }
        gauge("requests_in_flight", "Complete requests that wait for a response.", counters.inFlight)
        count("requests_malformed", "Requests reset because they violated HTTP.", counters.requestsMalformed)
        count(
            "requests_abandoned", "Complete requests whose stream ended before the response.",
            counters.requestsAbandoned)
        count("requests_without_id", "Requests without a valid apns-id or apns-request-id.", counters.requestsWithoutID)
        count("duplicates", "Processed requests whose ID an earlier request had.", counters.duplicateIDs)
        count("request_body_bytes", "Bytes of request bodies.", counters.bodyBytes)
        count(
            "streams_refused", "Streams refused because the connection or the simulator was at its limit.",
            counters.streamsRefused)
        count("tokens_verified", "Verifications of provider tokens, including failed ones.", counters.tokensVerified)
        registry.histogram(
            "apns_simulator_answer_seconds", help: "Time from a complete request to its response.",
            bounds: Latencies.boundsNanoseconds
        ).add(counters.latencies.counts, sum: counters.latencies.sumNanoseconds)
        gauge("faults_in_force", "Faults in force.", faultsInForce)
        count("ids_forgotten", "Request IDs discarded to make room.", counters.idsForgotten)
        count("answers_accepted", "Responses with a status from 200 to 299.", counters.accepted)
        for (status, answers) in counters.refusedByStatus.sorted(by: { $0.key < $1.key }) {
            count(
                "answers_refused", "Responses with a status of 300 or above, by status.", answers,
                ["status": String(status)])
        }
        for (reason, answers) in counters.refusedByReason.sorted(by: { $0.key < $1.key }) {
            count("refusals", "Refused requests, by reason.", answers, ["reason": reason])
        }
        for (action, times) in counters.faultsByAction.sorted(by: { $0.key < $1.key }) {
            count("faults", "Faults applied, by action.", times, ["action": action])
        }
    }

    private func count(_ name: String, _ help: String, _ value: Int, _ labels: KeyValuePairs<String, String> = [:]) {
        registry.counter("apns_simulator_\(name)_total", help: help, labels: labels).add(value)
    }

    private func gauge(_ name: String, _ help: String, _ value: Int) {
        registry.gauge("apns_simulator_\(name)", help: help).set(value)
    }
}
