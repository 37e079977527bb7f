package import Delivery
package import Telemetry

/// Counts of all lanes of a worker, since its start or since an earlier reading.
package struct WorkerTotals: Sendable, Hashable {
    package var taken = 0
    /// The number of requests with each outcome, in the order of `Outcome.allCases`.
    package var ended = Outcome.allCases.map { _ in 0 }
    package var deadLetters = 0
    package var retried = 0
    package var held = 0
    package var quarantined = 0
    package var requeued = 0
    package var duplicates = 0
    package var unknownOutcomes = 0
    package var publishRepeats = 0
    /// The time from a delivery to its acknowledgment, rejection or requeue; nil before a lane has started.
    var latency: HistogramReading?

    package init() {}

    package init(_ metrics: MetricsRegistry) {
        func count(_ name: String, _ label: (String, String)? = nil) -> Int {
            metrics.count(of: "martlet_\(name)", with: label.map { (name: $0.0, value: $0.1) })
        }
        taken = count("deliveries_total")
        ended = Outcome.allCases.map { count("messages_total", ("outcome", $0.rawValue)) }
        deadLetters = count("dead_total")
        retried = count("retry_total")
        held = count("held_total")
        quarantined = count("quarantined_total")
        requeued = count("acks_total", ("kind", "requeue"))
        duplicates = count("duplicates_total")
        unknownOutcomes = count("unknown_outcomes_total")
        publishRepeats = count("publish_repeats_total")
        latency = metrics.reading(of: "martlet_process_seconds", labels: ["stage": "total"])
    }

    package func since(_ earlier: WorkerTotals) -> WorkerTotals {
        var difference = self
        difference.taken = Self.grown(taken, earlier.taken)
        difference.ended = zip(ended, earlier.ended).map { Self.grown($0, $1) }
        difference.deadLetters = Self.grown(deadLetters, earlier.deadLetters)
        difference.retried = Self.grown(retried, earlier.retried)
        difference.held = Self.grown(held, earlier.held)
        difference.quarantined = Self.grown(quarantined, earlier.quarantined)
        difference.requeued = Self.grown(requeued, earlier.requeued)
        difference.duplicates = Self.grown(duplicates, earlier.duplicates)
        difference.unknownOutcomes = Self.grown(unknownOutcomes, earlier.unknownOutcomes)
        difference.publishRepeats = Self.grown(publishRepeats, earlier.publishRepeats)
        difference.latency = latency?.since(earlier.latency)
        return difference
    }

    /// Returns the increase. If `now` is smaller, the worker has restarted and counts from 0.
    private static func grown(_ now: Int, _ before: Int) -> Int { now >= before ? max(0, now &- before) : max(0, now) }

    package func ended(_ outcome: Outcome) -> Int { ended[outcome.number] }

    /// Returns the latency in milliseconds at this quantile; nil without completed deliveries.
    package func milliseconds(ofQuantile part: Double) -> Double? {
        latency?.quantile(part).map { (Double($0) / 10_000).rounded() / 100 }
    }
}
