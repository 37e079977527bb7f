public import Telemetry

/// What a lane counts; the same for all lanes of a process, so that they add up.
public final class LaneCounters: Sendable {
    public let deliveries: Counter
    public let outcomes: [Outcome: Counter]
    public let deadLetters: Counter
    public let retries: Counter
    /// Deliveries that an open breaker did not let through.
    public let held: Counter
    /// Messages that moved to the quarantine, or ended there.
    public let quarantined: Counter
    /// Deliveries given back to the broker undecided.
    public let requeued: Counter
    /// Copies of a message that was delivered already, or is being.
    public let duplicates: Counter
    /// Pushes whose answer never came.
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
        retries = metrics.counter("martlet_retries_total", help: "Messages sent to a wait queue.")
        held = metrics.counter("martlet_held_total", help: "Messages held up by an open breaker.")
        quarantined = metrics.counter(
            "martlet_quarantined_total", help: "Messages delivered again and again that were set apart.")
        requeued = metrics.counter("martlet_requeued_total", help: "Messages given back to the queue undecided.")
        duplicates = metrics.counter("martlet_duplicates_total", help: "Copies that were not sent again.")
        unknownOutcomes = metrics.counter(
            "martlet_unknown_outcomes_total", help: "Pushes whose answer never came.")
        publishRepeats = metrics.counter(
            "martlet_publish_repeats_total", help: "Publishes repeated for want of a confirm.")
        inFlight = metrics.gauge("martlet_in_flight", help: "Deliveries on their way.")
    }

    public func count(_ outcome: Outcome) { outcomes[outcome]?.add() }
}
