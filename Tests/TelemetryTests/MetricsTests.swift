import Telemetry
import Testing

@Suite struct MetricsTests {
    @Test func `The text is Prometheus' own`() {
        let registry = MetricsRegistry()
        registry.counter("martlet_results_total", help: "Results published.", labels: ["outcome": "accepted"]).add(3)
        registry.counter("martlet_results_total", help: "Results published.", labels: ["outcome": "a\"b\\c\nd"]).add()
        registry.gauge("martlet_in_flight", help: "Messages in flight.").set(-2)
        let histogram = registry.histogram(
            "martlet_send_seconds", help: "From request to answer.", labels: ["lane": "0"],
            bounds: [1_000_000, 50_000_000])
        for value in [1, 1_000_000, 1_000_001, 60_000_000] { histogram.observe(value) }

        #expect(
            registry.render() == #"""
                # HELP martlet_results_total Results published.
                # TYPE martlet_results_total counter
                martlet_results_total{outcome="accepted"} 3
                martlet_results_total{outcome="a\"b\\c\nd"} 1
                # HELP martlet_in_flight Messages in flight.
                # TYPE martlet_in_flight gauge
                martlet_in_flight -2
                # HELP martlet_send_seconds From request to answer.
                # TYPE martlet_send_seconds histogram
                martlet_send_seconds_bucket{lane="0",le="0.001"} 2
                martlet_send_seconds_bucket{lane="0",le="0.05"} 3
                martlet_send_seconds_bucket{lane="0",le="+Inf"} 4
                martlet_send_seconds_sum{lane="0"} 0.062000002
                martlet_send_seconds_count{lane="0"} 4

                """#)
    }

    @Test func `The same name and labels are the same metric`() {
        let registry = MetricsRegistry()
        let one = registry.counter("a_total", help: "A.", labels: ["x": "1"])
        #expect(registry.counter("a_total", help: "A.", labels: ["x": "1"]) === one)
        #expect(registry.counter("a_total", help: "A.", labels: ["x": "2"]) !== one)
    }

    @Test func `Labels without end do not fill the memory`() {
        let registry = MetricsRegistry()
        for number in 0..<(MetricsRegistry.seriesPerFamilyMax + 50) {
            registry.counter("a_total", help: "A.", labels: ["x": "\(number)"]).add()
        }
        let lines = registry.render().split(separator: "\n")
        #expect(lines.count == MetricsRegistry.seriesPerFamilyMax + 3)
        #expect(lines.last == #"a_total{overflow="true"} 50"#)
    }

    @Test func `Counting from many threads loses nothing`() async {
        let counter = Counter()
        let histogram = Histogram(unit: .plain, bounds: [10, 20])
        await withTaskGroup { group in
            for _ in 0..<8 {
                group.addTask {
                    for value in 0..<1000 {
                        counter.add()
                        histogram.observe(value % 30)
                    }
                }
            }
        }
        #expect(counter.value == 8000)
        #expect(histogram.counts.reduce(0, +) == 8000)
        #expect(histogram.bound(ofQuantile: 0.3) == 10 && histogram.bound(ofQuantile: 0.99) == nil)
        #expect(Histogram(unit: .plain, bounds: [1]).bound(ofQuantile: 0.5) == nil)
    }
}
