import JSON
import Telemetry
import TestKit
import Testing

@testable import Worker

/// The log lines of each minute.
@Suite struct MinuteReportTests {
    private let metrics = MetricsRegistry()

    private func count(_ name: String, _ count: Int, _ labels: MetricsRegistry.Labels = [:]) {
        metrics.counter("martlet_\(name)", help: "", labels: labels).add(count)
    }

    private func answers(_ app: String, _ status: String, _ reason: String, _ count: Int) {
        self.count(
            "apns_answers_total", count, ["app": app, "environment": "-", "status": status, "reason": reason])
    }

    @Test func eachReportContainsOnlyNewCounts() throws {
        let captured = try CapturedLog()
        var report = MinuteReport(metrics)
        count("deliveries_total", 5)
        count("messages_total", 4, ["outcome": "accepted"])
        metrics.gauge("martlet_inflight", help: "").set(1)
        metrics.histogram("martlet_process_seconds", help: "", labels: ["stage": "total"]).observe(1_000_000)
        report.write(to: captured.log)
        count("deliveries_total", 2)
        report.write(to: captured.log)
        let lines = captured.lines().map {
            $0.split(separator: #""message":"last minute summarized","#).last.map(String.init)
        }
        #expect(
            lines == [
                #""message.delivered":5,"message.accepted":4,"latency.p50_ms":0.75,"latency.p99_ms":1.0,"#
                    + #""message.in_flight":1}"#,
                #""message.delivered":2,"message.in_flight":1}"#,
            ])
    }

    @Test func refusalsHaveALineByReasonWithTheirApps() throws {
        let captured = try CapturedLog()
        var report = MinuteReport(metrics)
        answers("a", "200", "", 100)
        answers("a", "400", "BadDeviceToken", 3)
        answers("b", "400", "BadDeviceToken", 4)
        answers("a", "410", "Unregistered", 9)
        report.write(to: captured.log)
        answers("b", "400", "BadDeviceToken", 1)
        report.write(to: captured.log)
        let lines = try captured.lines().map { try JSONDocument($0).root }.filter {
            $0["event"]?.string == "apns.refused"
        }
        #expect(lines.map { $0["message.count"]?.int } == [9, 7, 1])
        #expect(lines.map { $0["level"]?.string } == ["info", "warning", "warning"])
        #expect(lines.map { $0["apns.reason"]?.string } == ["Unregistered", "BadDeviceToken", "BadDeviceToken"])
        #expect(lines.map { $0["apns.apps"]?.string } == ["a", "a b", "b"])
        #expect(lines.map { $0["apns.status"]?.int } == [410, 400, 400])
    }

    @Test func linesAreBounded() throws {
        let captured = try CapturedLog()
        var report = MinuteReport(metrics)
        for number in 0..<100 { answers("app\(number)", "400", "BadTopic", 1) }
        for number in 0..<100 { answers("a", "400", "Reason\(number)", number + 1) }
        report.write(to: captured.log)
        let lines = captured.lines()
        #expect(lines.count == 21 && lines[1].contains("and 95 more") && lines[1].contains("BadTopic"))
    }
}
