import TestKit

/// The alerts of `deploy/monitoring`, evaluated by promtool on metrics with constant values.
struct Alerts {
    /// The evaluation time, longer than the `for` duration of every alert.
    private static let minutes = 120
    private static let rules = Products.file("deploy/monitoring/alerts.yaml")

    let directory: TemporaryDirectory

    /// Returns the rule of an alert, including its annotations, on one line.
    static func text(of alert: String) throws -> String {
        let lines = try Files.lines(of: rules).map { $0.split(separator: " ").joined(separator: " ") }
        let rule = lines.drop { $0 != "- alert: \(alert)" }.dropFirst().prefix { !$0.hasPrefix("- alert:") }
        return rule.joined(separator: " ")
    }

    /// Returns the names of the alerts that fire.
    ///
    /// - Parameter metrics: Metrics in Prometheus' text format.
    func firing(metrics: String) async throws -> Set<String> {
        let series = metrics.split(separator: "\n").filter { !$0.hasPrefix("#") }.compactMap { line -> String? in
            guard let space = line.lastIndex(of: " ") else { return nil }
            let name = Self.withInstance(String(line[..<space])).replacing("'", with: "''")
            return "      - {series: '\(name)', values: '\(line[line.index(after: space)...])x\(Self.minutes)'}"
        }
        let test = try directory.write(
            "firing.yaml",
            """
            rule_files: ["\(Self.rules)"]
            evaluation_interval: 1m
            tests:
              - interval: 1m
                input_series:
            \(series.joined(separator: "\n"))
                promql_expr_test:
                  - {expr: 'count by (alertname) (ALERTS{alertstate="firing"})', eval_time: \(Self.minutes)m, exp_samples: []}

            """)
        // If an alert fires, the test fails, because it expects no samples. The output then lists the alerts.
        let (_, output, errors) = try await ChildProcess.run(["promtool", "test", "rules", test])
        let text = (output + errors).joined(separator: "\n")
        return Set(text.matches(of: /alertname="(\w+)"/).map { String($0.output.1) })
    }

    /// Returns the series with the labels that a scrape adds.
    private static func withInstance(_ series: String) -> String {
        let labels = #"instance="127.0.0.1:9780",job="martlet""#
        guard let brace = series.firstIndex(of: "{") else { return "\(series){\(labels)}" }
        return series[...brace] + labels + "," + series[series.index(after: brace)...]
    }
}
