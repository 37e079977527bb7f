import Telemetry
import Testing

@testable import Delivery

@Suite struct LaneCountersTests {
    /// Dashboards and alarms are made of them.
    @Test func theyKeepTheirNames() {
        let metrics = MetricsRegistry()
        _ = LaneCounters(metrics)
        let types = metrics.render().split(separator: "\n").filter { $0.hasPrefix("# TYPE ") }.map { $0.dropFirst(7) }
        #expect(
            Set(types) == [
                "martlet_deliveries_total counter", "martlet_results_total counter",
                "martlet_dead_letters_total counter", "martlet_retries_total counter", "martlet_held_total counter",
                "martlet_quarantined_total counter", "martlet_requeued_total counter",
                "martlet_duplicates_total counter", "martlet_unknown_outcomes_total counter",
                "martlet_publish_repeats_total counter", "martlet_in_flight gauge",
            ])
    }
}
