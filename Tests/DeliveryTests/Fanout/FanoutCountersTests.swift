import APNSProtocol
import Telemetry
import Testing

@testable import Delivery

@Suite struct FanoutCountersTests {
    // The dashboard uses each of these names, and alerts use some of them.
    @Test func `Metrics keep their names`() {
        let metrics = MetricsRegistry()
        let apps = AppDirectory([AppDirectory.App(bundleID: "com.example.app", defaultEnvironment: .sandbox)])
        let counters = FanoutCounters(metrics, apps: apps)
        for count in [0, 1, 8] { counters.completed(0, devices: count) }
        let text = metrics.render()
        #expect(
            Set(text.split(separator: "\n").filter { $0.hasPrefix("# TYPE ") }.map { $0.dropFirst(7) }) == [
                "martlet_fanout_children_total counter", "martlet_fanout_devices histogram",
                "martlet_fanout_gone_total counter", "martlet_fanout_requests_total counter",
                "martlet_registration_lookup_seconds histogram", "martlet_registration_lookups_total counter",
                "martlet_registration_lookups_up gauge",
            ])
        for devices in ["none", "one", "several"] {
            #expect(metrics.count(of: "martlet_fanout_requests_total", with: ("devices", devices)) == 1)
        }
    }

    @Test func `A lane without registrations has no metrics of requests to users`() throws {
        let fixture = try LaneAPNSHarness()
        fixture.request(1)
        #expect(fixture.harness.run { fixture.results == 1 })
        let text = fixture.harness.counters.registry.render()
        #expect(!text.contains("martlet_fanout") && !text.contains("martlet_registration"))
    }
}
