import Telemetry
import Testing

@Suite struct MetricsTests {
    @Test func `Metrics are rendered in Prometheus' text format`() {
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

    @Test func `Registrations beyond the maximum share cells, and the sum stays exact`() {
        let registry = MetricsRegistry()
        let cells = (0..<3 * MetricsRegistry.cellsPerSeriesMax).map { _ in registry.counter("a_total", help: "A.") }
        for cell in cells { cell.add() }
        #expect(Set(cells.map { ObjectIdentifier($0) }).count == MetricsRegistry.cellsPerSeriesMax)
        #expect(registry.count(of: "a_total") == cells.count)
    }

    @Test func `Each registration has a cell, and the series is their sum`() {
        let registry = MetricsRegistry()
        for (label, count) in [("1", 2), ("1", 3), ("2", 4)] {
            registry.counter("a_total", help: "A.", labels: ["x": label]).add(count)
            registry.gauge("b", help: "B.").add(count)
            registry.histogram("c", help: "C.", unit: .plain, bounds: [2]).observe(count)
        }
        #expect(registry.counts(of: "a_total").map(\.count) == [5, 4])
        #expect(registry.count(of: "a_total") == 9 && registry.count(of: "a_total", with: ("x", "2")) == 4)
        #expect(registry.count(of: "a_total", with: ("x", "3")) == 0 && registry.count(of: "none") == 0)
        #expect(registry.level(of: "b") == 9)
        #expect(registry.reading(of: "c")?.counts == [1, 2] && registry.reading(of: "c", labels: ["x": "1"]) == nil)
        let text = registry.render()
        for line in [#"a_total{x="1"} 5"#, "b 9", #"c_bucket{le="2"} 1"#, #"c_bucket{le="+Inf"} 3"#, "c_sum 9"] {
            #expect(text.contains(line + "\n"), "\(line)")
        }
    }

    @Test func `Replacing a gauge removes its previous series`() {
        let registry = MetricsRegistry()
        registry.replace("open", help: "Open.", [(["x": "1"], 1), (["x": "2"], 0.5)])
        registry.replace("open", help: "Open.", [(["x": "2"], 3)])
        #expect(registry.render() == "# HELP open Open.\n# TYPE open gauge\nopen{x=\"2\"} 3\n")
        registry.replace("open", help: "Open.", [])
        #expect(registry.render() == "")
    }

    @Test(arguments: ["a", "a_total"]) func `Replaced series are bounded`(name: String) throws {
        let registry = MetricsRegistry()
        let values = (1...(MetricsRegistry.seriesPerFamilyMax + 3)).map { number in
            (labels: ["x": "\(number)"] as MetricsRegistry.Labels, value: Double(number))
        }
        for _ in 0..<3 { registry.replace(name, help: "A.", values) }
        let lines = registry.render().split(separator: "\n")
        #expect(lines.count == MetricsRegistry.seriesPerFamilyMax + 3)
        #expect(lines.last == #"\#(name){overflow="true"} 3006"#)
    }

    @Test func `Labeled counters bound the number of label values`() {
        let registry = MetricsRegistry()
        var counters = LabeledCounters<Int>(registry, "a_total", help: "A.") { ["x": "\($0)"] }
        for number in 0..<(LabeledCounters<Int>.keysMax + 50) { counters.add(number) }
        counters.add(0)
        #expect(registry.count(of: "a_total", with: ("x", "0")) == 2)
        #expect(registry.count(of: "a_total", with: ("overflow", "true")) == 50)
    }

    @Test func `A reading has quantiles, also of the observations since another reading`() {
        let histogram = Histogram(unit: .plain, bounds: [10, 20, 40])
        #expect(histogram.reading.quantile(0.5) == nil)
        for _ in 0..<10 { histogram.observe(15) }
        let before = histogram.reading
        #expect(before.quantile(0.5) == 15 && before.quantile(1) == 20 && before.count == 10 && before.sum == 150)
        for _ in 0..<10 { histogram.observe(5) }
        histogram.observe(1000)
        let since = histogram.reading.since(before)
        #expect(since.counts == [10, 0, 0, 1] && since.sum == 1050)
        #expect(since.quantile(0.5) == 5 && since.quantile(1) == 40)
    }

    @Test func `The number of series per name is bounded`() {
        let registry = MetricsRegistry()
        for number in 0..<(MetricsRegistry.seriesPerFamilyMax + 50) {
            registry.counter("a_total", help: "A.", labels: ["x": "\(number)"]).add()
        }
        let lines = registry.render().split(separator: "\n")
        #expect(lines.count == MetricsRegistry.seriesPerFamilyMax + 3)
        #expect(lines.last == #"a_total{overflow="true"} 50"#)
    }

    @Test func `Concurrent increments are all counted`() async {
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
        #expect(histogram.reading.count == 8000)
    }
}
