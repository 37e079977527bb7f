public import APNS
public import APNSProtocol
public import Telemetry

/// What a lane counts, in cells of its own.
public final class LaneCounters: Sendable {
    /// Where the cells are told of, summed over all lanes.
    public let registry: MetricsRegistry
    /// Deliveries that an open breaker or a pause did not let through.
    public let held: Counter
    /// Messages that moved to the quarantine, or ended there.
    public let quarantined: Counter
    public let acknowledged: Counter
    /// Deliveries that the broker itself was to move to its dead letters.
    public let rejected: Counter
    /// Deliveries given back to the broker undecided.
    public let requeued: Counter
    /// Copies of a message that was delivered already, or is being.
    public let duplicates: Counter
    /// Pushes whose answer never came.
    public let unknownOutcomes: Counter
    /// Publishes that had to be repeated.
    public let publishRepeats: Counter
    public let inFlight: Gauge
    /// From the publish of a request to its first delivery, where the producer said when it was.
    public let age: Histogram
    public let confirms: Histogram
    /// From a delivery to its settlement.
    public let whole: Histogram
    private let stream: Histogram
    private let answer: Histogram

    public init(_ registry: MetricsRegistry) {
        self.registry = registry
        func counter(_ name: String, _ help: String, _ labels: MetricsRegistry.Labels = [:]) -> Counter {
            registry.counter("martlet_\(name)", help: help, labels: labels)
        }
        held = counter("held_total", "Deliveries that an open breaker or a pause did not let through.")
        quarantined = counter("quarantined_total", "Messages delivered again and again that were set apart.")
        let settled = "Deliveries settled at the broker, by kind."
        acknowledged = counter("acks_total", settled, ["kind": "ack"])
        rejected = counter("acks_total", settled, ["kind": "reject"])
        requeued = counter("acks_total", settled, ["kind": "requeue"])
        duplicates = counter("duplicates_total", "Copies that were not sent again.")
        unknownOutcomes = counter("unknown_outcomes_total", "Pushes whose answer never came.")
        publishRepeats = Self.publishRepeats(registry)
        inFlight = registry.gauge("martlet_inflight", help: "Deliveries on their way.")
        age = registry.histogram(
            "martlet_message_age_seconds", help: "From a request's timestamp to its first delivery.",
            bounds: Histogram.waitNanoseconds)
        confirms = registry.histogram(
            "martlet_publish_confirm_seconds", help: "From a publish to the broker's confirm.")
        func stage(_ name: String) -> Histogram {
            registry.histogram(
                "martlet_process_seconds",
                help: "How long deliveries took: waiting for a stream, for the answer of APNs, and in total.",
                labels: ["stage": name])
        }
        stream = stage("stream")
        answer = stage("apns")
        whole = stage("total")
    }

    /// Of one who publishes.
    static func publishRepeats(_ registry: MetricsRegistry) -> Counter {
        registry.counter(
            "martlet_publish_repeats_total", help: "Publishes repeated for want of a confirm.", labels: [:])
    }

    /// Where a pool of this credential counts.
    func metrics(of credential: Credential.Name, _ environment: APNSEnvironment) -> PoolMetrics {
        func counter(_ name: String, _ help: String) -> Counter {
            registry.counter("martlet_apns_\(name)_total", help: help, labels: credential.labels(in: environment))
        }
        return PoolMetrics(
            stream: stream, answer: answer, connects: counter("connects", "Connections begun."),
            resent: counter("resent", "Pushes sent again by their connection pool."))
    }

    /// Deliveries that ended so, of all lanes.
    public func count(of outcome: Outcome) -> Int {
        registry.count(of: "martlet_messages_total", with: ("outcome", outcome.rawValue))
    }
}

extension Credential.Name {
    /// By which metrics tell pools apart.
    public func labels(in environment: APNSEnvironment) -> MetricsRegistry.Labels {
        switch self {
        case .key(let id, _): ["environment": environment.rawValue, "key_id": id]
        case .certificate(let name): ["environment": environment.rawValue, "certificate": name]
        }
    }
}
