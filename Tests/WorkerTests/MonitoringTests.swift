import JSON
import Telemetry
import TestKit
import Testing

@testable import Configuration
@testable import Delivery

/// The alerts and the dashboard, and the metrics that they use. Every alert is documented and tested.
@Suite struct MonitoringTests {
    private let rules: String
    private let trials: String
    private let dashboard: String
    private let guide: String

    init() throws {
        rules = try Self.text("deploy/monitoring/alerts.yaml")
        trials = try Self.text("deploy/monitoring/alerts-test.yaml")
        dashboard = try Self.text("deploy/monitoring/dashboard.json")
        guide = try Self.text("Sources/Documentation/Operators/Alerts.md")
    }

    @Test func queriedMetricsExist() throws {
        let known = try Self.metricNames()
        #expect(known.count > 30)
        for (text, countMin) in [(rules, 20), (trials, 20), (dashboard, 30)] {
            let asked = Set(text.matches(of: /\bmartlet_[a-z0-9_]+/).map { String($0.output) })
            #expect(asked.count >= countMin)
            #expect(asked.subtracting(known).sorted() == [])
        }
    }

    @Test func metricsAreOnTheDashboard() throws {
        for family in try Self.families() { #expect(dashboard.contains(family.name), "\(family.name)") }
    }

    @Test func alertsAreDocumentedAndTested() {
        let alerts = alerts
        #expect(alerts.count > 30)
        #expect(Set(alerts.map(\.name)).count == alerts.count)
        let sections = guide.matches(of: /\n### (Martlet\w+)\n/).map { String($0.output.1) }
        #expect(sections == alerts.map(\.name))
        for alert in alerts {
            #expect(
                alert.text.contains("runbook: https://martlet.dev/documentation/delivery/alerts#\(alert.name)\n"),
                "\(alert.name)")
            #expect(alert.text.contains(/\n {10}severity: (page|warn|info)\n/), "\(alert.name)")
            for annotation in ["summary", "description"] {
                #expect(alert.text.contains("\n          \(annotation): "), "\(alert.name)")
            }
            // The alert is among the expected alerts.
            #expect(trials.contains("{alertname=\"\(alert.name)\", severity="), "\(alert.name)")
        }
    }

    @Test func alertsNameTheBreakerOfTheStore() {
        for text in [rules, trials] {
            let targets = text.matches(of: /target="([^"]+)", code=~?"store-/).map { String($0.output.1) }
            #expect(targets.count >= 3)
            #expect(Set(targets) == [DeviceFinder.route])
        }
        #expect(guide.contains("at the target `\(DeviceFinder.route)`"))
    }

    /// Words with a dot are event codes of the log or keys of the configuration.
    @Test func codesAndKeysOfTheGuideExist() throws {
        let schema = try JSONDocument(Array(Self.text("schemas/config.schema.json").utf8)).root
        let events = Set(LogEvent.allCases.map(\.rawValue))
        let words = guide.matches(of: /`([a-z_]+)\.([a-z_]+)`/).map { (String($0.output.1), String($0.output.2)) }
        #expect(words.count > 20)
        for (first, second) in words where !events.contains("\(first).\(second)") {
            let key = schema.at(pointer: "/properties/\(first)/properties/\(second)")
            #expect(key != nil, "\(first).\(second)")
        }
    }

    @Test func panelsAreDescribed() throws {
        let root = try JSONDocument(Array(dashboard.utf8)).root
        let panels = try #require(root["panels"]).elements.filter { $0["type"]?.string != "row" }
        #expect(panels.count > 30)
        for panel in panels {
            let title = panel["title"]?.string ?? ""
            #expect(!title.isEmpty)
            #expect(panel["description"]?.string?.isEmpty == false, "\(title)")
            #expect(panel["fieldConfig"]?["defaults"]?["unit"]?.string != nil, "\(title)")
            #expect(panel["datasource"]?["uid"]?.string == "${datasource}", "\(title)")
        }
        #expect(Set(panels.compactMap { $0["title"]?.string }).count == panels.count)
    }

    @Test func prometheusAcceptsTheConfiguration() async throws {
        try await promtool("check", "config", "prometheus.yaml")
    }

    @Test func dashboardQueriesAreValid() async throws {
        let root = try JSONDocument(Array(dashboard.utf8)).root
        let targets = try #require(root["panels"]).elements.flatMap { $0["targets"].map { Array($0.elements) } ?? [] }
        let folder = try TemporaryDirectory("dashboard")
        // JSON strings are valid YAML.
        let rules = try targets.enumerated().map { index, target in
            let text = String(decoding: try #require(target["expr"]).sourceBytes, as: UTF8.self)
                .replacing("$__rate_interval", with: "5m").replacing("$__range", with: "1h")
            return "  - {record: \"panel:\(index)\", expr: \(text)}\n"
        }
        #expect(rules.count > 40)
        let path = try folder.write("rules.yaml", "groups:\n- name: dashboard\n  rules:\n" + rules.joined())
        try await promtool("check", "rules", path)
    }

    @Test func alertsFireOnlyForTheirCause() async throws {
        try await promtool("test", "rules", "alerts-test.yaml")
    }

    private func promtool(_ first: String, _ second: String, _ file: String) async throws {
        let path = file.hasPrefix("/") ? file : Products.file("deploy/monitoring/\(file)")
        let run = try await ChildProcess.run(["promtool", first, second, path], within: .seconds(300))
        #expect(run.exit.status == .exited(0), "\((run.output + run.errors).joined(separator: "\n"))")
    }

    private var alerts: [(name: String, text: String)] {
        let names = rules.matches(of: /\n      - alert: (\w+)\n/)
        return names.enumerated().map { index, match in
            let end = index + 1 < names.count ? names[index + 1].range.lowerBound : rules.endIndex
            return (String(match.output.1), String(rules[match.range.upperBound..<end]))
        }
    }

    /// Returns the metric names that Prometheus scrapes.
    private static func metricNames() throws -> Set<String> {
        Set(
            try families().flatMap { family in
                family.type == "histogram" ? ["_bucket", "_sum", "_count"].map { family.name + $0 } : [family.name]
            })
    }

    private static func families() throws -> [(name: String, type: String)] {
        try text("Sources/Documentation/Operators/Metrics.md")
            .matches(of: /\n\| `(martlet_[a-z0-9_]+)` \| (counter|gauge|histogram) \|/)
            .map { (String($0.output.1), String($0.output.2)) }
    }

    private static func text(_ path: String) throws -> String {
        String(decoding: try FileReader.bytes(of: Products.file(path), bytesMax: 1 << 20), as: UTF8.self)
    }
}
