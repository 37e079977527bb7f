import APNSProtocol
import AdminHTTP
import Telemetry

/// A simulator's counts in the names and the text format of Prometheus.
struct SimulatorMetrics {
    private let registry = MetricsRegistry()

    /// In the text format 0.0.4.
    var text: String { registry.render() }

    /// - Parameter faultsInForce: how many faults there are.
    init(_ counters: Counters, faultsInForce: Int) {
        count("connections", "Connections accepted.", counters.connections)
        gauge("connections_open", "Connections that are open.", counters.connectionsOpen)
        for end in ConnectionEnd.allCases {
            count(
                "connections_ended", "Connections that ended, by how.", counters.connectionsByEnd[end] ?? 0,
                ["end": end.rawValue])
        }
        for cause in AdminClosing.allCases {
            count(
                "admin_connections_closed", "Connections that the admin port closed before the client had an answer.",
                counters.adminClosings[cause] ?? 0, ["cause": cause.rawValue])
        }
        for service in Service.all {
            count(
                "requests", "Requests that arrived whole.", counters[service].requests,
                ["environment": service.environment.rawValue, "service": service.kind.rawValue])
        }
        gauge("requests_in_flight", "Requests that arrived whole and are not answered yet.", counters.inFlight)
        count("requests_malformed", "Requests reset because they broke the rules of HTTP.", counters.requestsMalformed)
        count("requests_abandoned", "Requests whose stream ended before their answer.", counters.requestsAbandoned)
        count("requests_without_id", "Requests without an apns-id that is a UUID.", counters.requestsWithoutID)
        count("duplicates", "Requests whose apns-id came before.", counters.duplicateIDs)
        count("request_body_bytes", "Bytes of the bodies of requests.", counters.bodyBytes)
        count("streams_refused", "Streams beyond what the connection may have.", counters.streamsRefused)
        count("tokens_verified", "Signatures of provider tokens that were checked.", counters.tokensVerified)
        registry.histogram(
            "apns_simulator_answer_seconds", help: "Time from a whole request to its answer.",
            bounds: Latencies.boundsNanoseconds
        ).add(counters.latencies.counts, sum: counters.latencies.sumNanoseconds)
        gauge("faults_in_force", "Faults that may strike.", faultsInForce)
        count("ids_forgotten", "Ids of requests that were forgotten to make room.", counters.idsForgotten)
        count("answers_accepted", "Answers with status 200, 201 or 204.", counters.accepted)
        for (status, answers) in counters.refusedByStatus.sorted(by: { $0.key < $1.key }) {
            count("answers_refused", "Other answers, by status.", answers, ["status": String(status)])
        }
        for (reason, answers) in counters.refusedByReason.sorted(by: { $0.key < $1.key }) {
            count("refusals", "Other answers, by reason.", answers, ["reason": reason])
        }
        for (action, times) in counters.faultsByAction.sorted(by: { $0.key < $1.key }) {
            count("faults", "Times that faults struck, by what they do.", times, ["action": action])
        }
    }

    private func count(_ name: String, _ help: String, _ value: Int, _ labels: KeyValuePairs<String, String> = [:]) {
        registry.counter("apns_simulator_\(name)_total", help: help, labels: labels).add(value)
    }

    private func gauge(_ name: String, _ help: String, _ value: Int) {
        registry.gauge("apns_simulator_\(name)", help: help).set(value)
    }
}
