public import APNS
public import APNSProtocol
public import Telemetry

/// A lane's metrics without app and queue labels. Only the lane writes to their cells.
public final class LaneCounters: Sendable {
    /// The registry that exports the cells, summed over all lanes.
    public let registry: MetricsRegistry
    /// Deliveries that an open breaker or a pause held.
    public let held: Counter
    /// Requests that moved to the quarantine, or were completed there because their deliveries failed.
    public let quarantined: Counter
    public let acknowledged: Counter
    /// Deliveries rejected without requeue, which the broker dead-letters.
    public let rejected: Counter
    /// Deliveries requeued without an outcome.
    public let requeued: Counter
    /// Deliveries that were not pushed, because their request was in flight or settled.
    public let duplicates: Counter
    /// Pushes with an unknown outcome. APNs may have processed the push, but did not answer.
    public let unknownOutcomes: Counter
    public let publishRepeats: Counter
    public let inFlight: Gauge
    /// The time from a request's timestamp to its delivery. Requests without a timestamp, republished requests, and
    /// children of requests to users do not count.
    public let age: Histogram
    /// The time from a publish to its confirm.
    public let confirms: Histogram
    /// The time from a delivery to its acknowledgment, rejection or requeue.
    public let whole: Histogram
    private let stream: Histogram
    private let answer: Histogram

    public init(_ registry: MetricsRegistry) {
        self.registry = registry
        func counter(_ name: String, _ help: String, _ labels: MetricsRegistry.Labels = [:]) -> Counter {
            registry.counter("martlet_\(name)", help: help, labels: labels)
        }
        held = counter("held_total", "Deliveries held by an open breaker or a pause.")
        quarantined = counter(
            "quarantined_total",
            "Requests moved to the quarantine, or completed there because their deliveries failed.")
        let settled = "Deliveries acknowledged, rejected or requeued, by kind."
        acknowledged = counter("acks_total", settled, ["kind": "ack"])
        rejected = counter("acks_total", settled, ["kind": "reject"])
        requeued = counter("acks_total", settled, ["kind": "requeue"])
        duplicates = counter("duplicates_total", "Duplicates that were not pushed again.")
        unknownOutcomes = counter("unknown_outcomes_total", "Pushes that APNs may have processed but did not answer.")
        publishRepeats = Self.publishRepeats(registry)
        inFlight = registry.gauge("martlet_inflight", help: "Deliveries in flight.")
        age = registry.histogram(
            "martlet_message_age_seconds", help: "Time from a request's timestamp to its delivery.",
            bounds: Histogram.waitNanoseconds)
        confirms = registry.histogram(
            "martlet_publish_confirm_seconds", help: "Time from a publish to the broker's confirm.")
        func stage(_ name: String) -> Histogram {
            registry.histogram(
                "martlet_process_seconds",
                help: "Duration of deliveries: the wait for a stream, the wait for APNs' answer, and the total.",
                labels: ["stage": name])
        }
        stream = stage("stream")
        answer = stage("apns")
        whole = stage("total")
    }

    static func publishRepeats(_ registry: MetricsRegistry) -> Counter {
        registry.counter(
            "martlet_publish_repeats_total",
            help: "Publishes repeated because the broker did not confirm or route the message.", labels: [:])
    }

    func metrics(of credential: Credential.Name, _ environment: APNSEnvironment) -> PoolMetrics {
        func counter(_ name: String, _ help: String) -> Counter {
            registry.counter("martlet_apns_\(name)_total", help: help, labels: credential.labels(in: environment))
        }
        return PoolMetrics(
            stream: stream, answer: answer, connects: counter("connects", "Attempts to connect."),
            resent: counter("resent", "Pushes sent again by their connection pool."))
    }

    /// Returns the number of completed requests with this outcome, summed over all lanes.
    public func count(of outcome: Outcome) -> Int {
        registry.count(of: "martlet_messages_total", with: ("outcome", outcome.rawValue))
    }
}

extension Credential.Name {
    public func labels(in environment: APNSEnvironment) -> MetricsRegistry.Labels {
        switch self {
        case .key(let id, _): ["environment": environment.rawValue, "key_id": id]
        case .certificate(let name): ["environment": environment.rawValue, "certificate": name]
        }
    }
}
