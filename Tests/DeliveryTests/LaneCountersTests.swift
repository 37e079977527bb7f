import Telemetry
import Testing

@testable import Delivery

@Suite struct LaneCountersTests {
    /// Dashboards and alerts are made of them.
    @Test func theyKeepTheirNames() {
        let metrics = MetricsRegistry()
        _ = LaneCounters(metrics)
        let types = metrics.render().split(separator: "\n").filter { $0.hasPrefix("# TYPE ") }.map { $0.dropFirst(7) }
        #expect(
            Set(types) == [
                "martlet_acks_total counter", "martlet_duplicates_total counter", "martlet_held_total counter",
                "martlet_inflight gauge", "martlet_message_age_seconds histogram", "martlet_process_seconds histogram",
                "martlet_publish_confirm_seconds histogram", "martlet_publish_repeats_total counter",
                "martlet_quarantined_total counter", "martlet_unknown_outcomes_total counter",
            ])
    }
}
