public import Telemetry

/// What a lane counts; the same for all lanes of a process, so that they add up.
public final class LaneCounters: Sendable {
    public let deliveries: Counter
    public let outcomes: [Outcome: Counter]
    public let deadLetters: Counter
    public let retries: Counter
    /// Deliveries put back into the queue untold.
    public let requeued: Counter
    /// Copies of a message that was delivered already, or is being.
    public let duplicates: Counter
    /// Pushes whose answer never came, told or tried again.
    public let unknownOutcomes: Counter
    /// Publishes that had to be repeated.
    public let publishRepeats: Counter
    public let inFlight: Gauge

    public init(_ metrics: MetricsRegistry) {
        deliveries = metrics.counter("martlet_deliveries_total", help: "Messages taken from the queue.")
        var outcomes: [Outcome: Counter] = [:]
        for outcome in Outcome.allCases {
            outcomes[outcome] = metrics.counter(
                "martlet_results_total", help: "Deliveries that ended, by outcome.",
                labels: ["outcome": outcome.rawValue])
        }
        self.outcomes = outcomes
        deadLetters = metrics.counter("martlet_dead_letters_total", help: "Dead letters published.")
        retries = metrics.counter("martlet_retries_total", help: "Messages sent to a retry queue.")
        requeued = metrics.counter("martlet_requeued_total", help: "Messages put back into the queue untold.")
        duplicates = metrics.counter("martlet_duplicates_total", help: "Copies that were not sent again.")
        unknownOutcomes = metrics.counter(
            "martlet_unknown_outcomes_total", help: "Pushes whose answer never came.")
        publishRepeats = metrics.counter(
            "martlet_publish_repeats_total", help: "Publishes repeated for want of a confirm.")
        inFlight = metrics.gauge("martlet_in_flight", help: "Deliveries on their way.")
    }

    public func count(_ outcome: Outcome) { outcomes[outcome]?.add() }
}
