import AMQP
import EventLoop
import HTTPClient
import JSON
import Telemetry
import Testing

@testable import Delivery
@testable import Operations

/// What `/status` says, as `martlet status` reads and draws it.
@Suite struct StatusTests {
    private static func totals(_ accepted: Int, milliseconds: Int) -> WorkerTotals {
        let metrics = MetricsRegistry()
        metrics.counter("martlet_deliveries_total", help: "").add(accepted + 3)
        metrics.counter("martlet_messages_total", help: "", labels: ["outcome": "accepted"]).add(accepted)
        metrics.counter("martlet_messages_total", help: "", labels: ["outcome": "rejected"]).add(2)
        metrics.counter("martlet_retry_total", help: "").add(1)
        let latency = metrics.histogram("martlet_process_seconds", help: "", labels: ["stage": "total"])
        for _ in 0..<accepted { latency.observe(milliseconds * 1_000_000) }
        return WorkerTotals(metrics)
    }

    private static func status(
        _ process: Int = 7, reasons: [String] = [], pauses: [PauseScope] = [], broker: String = "rabbit:5672",
        queues: [QueueStatus] = [QueueStatus(name: "push.requests", messages: 12, consumers: 2)],
        totals: WorkerTotals = WorkerTotals(), leaving: [WorkerStatus.Lane] = []
    ) -> WorkerStatus {
        WorkerStatus(
            worker: "host/\(process)/0.1.0", version: "0.1.0", processID: process, uptimeSeconds: 3725, phase: .running,
            reasons: reasons, pauses: pauses.map(\.description),
            lanes: [.init(number: 0, isTurning: true, status: nil)], leaving: leaving,
            certificates: [.init(name: "com.example.shop", notAfterSeconds: 1_800_000_000)], broker: broker,
            prefix: "push", queues: queues,
            queuesSecondsOld: 4, totals: totals, inFlight: 9, logLinesDropped: 0, spansDropped: 0)
    }

    private static func report(_ status: WorkerStatus) throws -> WorkerReport {
        try WorkerReport(HTTPResponse(status: 200, body: status.json))
    }

    @Test func whatIsAnsweredIsRead() throws {
        let totals = Self.totals(10, milliseconds: 7)
        let report = try Self.report(Self.status(reasons: ["a \"reason\"\u{1B}"], totals: totals))
        #expect(report.totals == totals && report.worker == "host/7/0.1.0" && report.inFlight == 9)
        #expect(!report.isReady && report.reasons == ["a \"reason\"\u{1B}"] && report.uptimeSeconds == 3725)
        #expect(report.queues == [.init(name: "push.requests", messages: 12, consumers: 2)] && report.lanes == 1)
        #expect(!report.json.contains("\n"))
    }

    /// `publish --wait` names the workers that could take its requests.
    @Test func aWorkerOfAnotherPrefixOrBrokerIsNotMeant() throws {
        let report = try Self.report(Self.status())
        #expect(report.uses(broker: "rabbit:5672", prefix: "push"))
        #expect(!report.uses(broker: "rabbit:5672", prefix: "staging"))
        #expect(!report.uses(broker: "rabbit:5672/staging", prefix: "push"))
        // Version 0.1.0 and before.
        let former = try WorkerReport(
            HTTPResponse(status: 200, body: Array(#"{"worker":"host/7/0.1.0","broker":"rabbit:5672"}"#.utf8)))
        #expect(former.uses(broker: "rabbit:5672", prefix: "staging"))
    }

    /// Behind loopback no other names are trusted, however its address is written.
    @Test(arguments: [
        ("127.0.0.1", true), ("127.1", true), ("2130706433", true), ("0x7f.1", true), ("017700000001", true),
        ("::1", true), ("0:0:0:0:0:0:0:1", true), ("::ffff:127.0.0.1", true), ("::ffff:7f00:1", true),
        ("0.0.0.0", false), ("::", false), ("10.127.0.1", false), ("::ffff:10.0.0.1", false), ("128.0.0.1", false),
        ("::2", false), ("fe80::1", false),
    ])
    func loopbackHasManyForms(_ host: String, _ isLoopback: Bool) {
        #expect(Endpoint(host: host, port: 9780).isLoopback == isLoopback)
    }

    /// Pushes do not need it.
    @Test func commandsForChannelsAreNoMatterOfReadiness() throws {
        var status = Self.status()
        #expect(try JSONDocument(status.json).root["channel_commands"] == nil)
        status.channels = .init(isConsuming: false, isPublishing: true, reasons: ["queue push.channels is missing"])
        let root = try JSONDocument(status.json).root
        let commands = root["channel_commands"]
        #expect(commands?["consumed"]?.bool == false && commands?["replying"]?.bool == true)
        #expect(commands?["reasons"]?.elements.compactMap(\.string) == ["queue push.channels is missing"])
        #expect(root["ready"]?.bool == true && root["reasons"]?.count == 0)
    }

    @Test(arguments: [(200, "<html>"), (404, #"{"error":"x"}"#), (200, "{}"), (200, "")])
    func whatIsNoWorkerIsSaidToBeNone(status: Int, body: String) {
        #expect(throws: WorkerReportError.self) {
            try WorkerReport(HTTPResponse(status: status, body: Array(body.utf8)))
        }
    }

    @Test func ratesAndTimesAreThoseSinceTheLookBefore() throws {
        let (before, now) = (Self.totals(10, milliseconds: 7), Self.totals(210, milliseconds: 7))
        let line = StatusTable.Line(
            address: "x", report: .success(try Self.report(Self.status(totals: now))), difference: now.since(before))
        let text = StatusTable(lines: [line], seconds: 2, hasColors: false).text
        let rows = text.split(separator: "\n")
        #expect(rows[0].hasPrefix("WORKER        STATE  UP     LANES  IN FLIGHT  TAKEN/S  ACCEPTED/S  REFUSED/S"))
        #expect(
            rows[1].split(separator: " ") == [
                "host/7/0.1.0", "ready", "1h", "2m", "1", "9", "100", "100", "0", "0", "0", "7.5", "ms", "9.95", "ms",
            ])
        #expect(rows.last?.split(separator: " ") == ["push.requests", "12", "2", "4s", "ago"])
    }

    @Test func whyAWorkerIsNotReadyStandsBelowTheTable() throws {
        let lines = [
            StatusTable.Line(
                address: "x", report: .success(try Self.report(Self.status(reasons: ["no\u{1B}[2J queue"]))),
                difference: nil),
            StatusTable.Line(address: "/run/y.sock", report: .failure(WorkerReportError(message: "silent"))),
        ]
        let text = StatusTable(lines: lines, seconds: 1, hasColors: false).text
        #expect(text.contains("host/7/0.1.0  not ready") && text.contains("/run/y.sock   unreachable"))
        #expect(text.contains("host/7/0.1.0: no\u{FFFD}[2J queue\n") && text.contains("/run/y.sock: silent\n"))
    }

    @Test func whatIsLeftOfAConfigurationBeforeStandsBelowTheTable() throws {
        var (state, stuck) = (LaneState(), [String]())
        state.publishingFailure = "push.results: nacked"
        for inFlight in [3, 4] {
            let lane = LaneStatus(
                number: 0, state: state, inFlight: inFlight, queues: [], unconfirmed: 0, unpublished: 0, pools: [],
                breakers: [], pauses: [])
            let leaving = [1, 2].map { WorkerStatus.Lane(number: $0, isTurning: true, status: lane) }
            let report = try Self.report(Self.status(leaving: leaving))
            let line = StatusTable.Line(address: "x", report: .success(report), difference: nil)
            stuck += StatusTable(lines: [line], seconds: 1, hasColors: false).text.split(separator: "\n")
                .filter { $0.contains("configuration before") }.map(String.init)
        }
        #expect(
            stuck
                == [6, 8].map { count in
                    "host/7/0.1.0: lanes of a configuration before (2) have messages to settle (\(count)): what became of "
                        + "them cannot be published: push.results: nacked"
                })
    }

    private static func rows(_ statuses: [WorkerStatus], from title: String) throws -> [String] {
        let lines = try statuses.map {
            StatusTable.Line(address: "x", report: .success(try report($0)), difference: nil)
        }
        let text = StatusTable(lines: lines, seconds: 1, hasColors: false).text
        let rows = text.split(separator: "\n", omittingEmptySubsequences: false).drop { !$0.hasPrefix(title) }
        return rows.prefix { !$0.isEmpty }.map { $0.split(separator: " ").joined(separator: " ") }
    }

    @Test func appsAtTheirLimitsStandBelowTheTable() throws {
        let apps = [(2, 30, 20), (3, 90, 10)].map { inFlight, limited, behind in
            LaneStatus.LimitedApp(
                bundleID: "com.example.shop", inFlight: inFlight, waiting: 4, secondsLimited: limited,
                secondsBehind: behind)
        }
        let lanes = apps.map { app in
            LaneStatus(
                number: 0, state: LaneState(), inFlight: 9, queues: [], unconfirmed: 0, unpublished: 0, pools: [],
                breakers: [], pauses: [], limitedApps: [app])
        }
        var status = Self.status()
        #expect(try Self.rows([status], from: "AT ITS LIMITS") == [])
        status.lanes = lanes.enumerated().map { WorkerStatus.Lane(number: $0, isTurning: true, status: $1) }
        #expect(
            try Self.rows([status], from: "AT ITS LIMITS") == [
                "AT ITS LIMITS SINCE BEHIND IN FLIGHT", "com.example.shop 1m 30s 20s 5",
            ])
        let metrics = MetricsRegistry()
        status.write(to: metrics)
        let text = metrics.render()
        #expect(text.contains("martlet_app_limit_behind_seconds{app=\"com.example.shop\"} 20\n"), "\(text)")
    }

    @Test func whosePauseItIsStandsBesideIt() throws {
        let one = [Self.status(1, pauses: [.everything, .key("K")]), Self.status(2, pauses: [.key("K")])]
        #expect(
            try Self.rows(one, from: "HELD UP") == [
                "HELD UP CODE SINCE WORKER WHAT",
                "everything paused - host/1/0.1.0 martlet resume lets it go on",
                "key K paused - all martlet resume --key K lets it go on",
            ])
    }

    @Test func shardsOfAQueueAreOneLine() throws {
        var status = Self.status(
            queues: (0..<3).map { QueueStatus(name: "push.requests.\($0)", messages: $0 * 10, consumers: 5 - $0) }
                + [QueueStatus(name: "push.dead", messages: 1, consumers: 0)])
        #expect(try JSONDocument(status.json).root["queues"]?.elements.first { _ in true }?["shard_of"] == nil)
        status.shardOf = TopologyNames(shards: ["push.requests": 3]).queueByShard
        #expect(
            try Self.rows([status, status], from: "QUEUE") == [
                "QUEUE MESSAGES CONSUMERS SEEN",
                "push.requests, 3 shards 30 (20 in push.requests.2) 3 4s ago", "push.dead 1 0 4s ago",
            ])
        let json = try JSONDocument(status.json).root["queues"]?.elements.compactMap { $0["shard_of"]?.string }
        #expect(json == ["push.requests", "push.requests", "push.requests"])
    }

    @Test func aQueueOfTwoBrokersIsTwo() throws {
        let queues = [QueueStatus(name: "push.requests", messages: 3, consumers: 0)]
        let two = [Self.status(1), Self.status(2, queues: queues), Self.status(3, broker: "hare:5672", queues: queues)]
        #expect(
            try Self.rows(two, from: "QUEUE") == [
                "QUEUE BROKER MESSAGES CONSUMERS SEEN", "push.requests rabbit:5672 12 2 4s ago",
                "push.requests hare:5672 3 0 4s ago",
            ])
    }

    /// Nobody reads it, and nobody has written to it yet.
    @Test func aQueueWithoutAnythingIsShown() throws {
        let names = ["push.requests", "push.wait.30s.1"]
        let status = Self.status(queues: names.map { QueueStatus(name: $0, messages: 0, consumers: 0) })
        #expect(
            try Self.rows([status], from: "QUEUE") == ["QUEUE MESSAGES CONSUMERS SEEN", "push.requests 0 0 4s ago"])
    }

    /// The command that is named is the one that ends this pause.
    @Test(arguments: [
        (PauseScope.everything, "martlet resume"), (.key("ABC123DEFG"), "martlet resume --key ABC123DEFG"),
        (.topic("com.example.app"), "martlet resume --topic com.example.app"),
    ])
    func aPauseIsShownWithWhatEndsIt(scope: PauseScope, command: String) throws {
        let report = try Self.report(Self.status(pauses: [scope]))
        let line = StatusTable.Line(address: "x", report: .success(report), difference: nil)
        let text = StatusTable(lines: [line], seconds: 1, hasColors: false).text
        #expect(text.contains("\(scope)") && text.contains("  \(command) lets it go on\n"), "\(text)")
    }

    @Test(arguments: [(0, "0s"), (59, "59s"), (60, "1m 0s"), (3725, "1h 2m"), (90_061, "1d 1h")])
    func durationsAreShort(seconds: Int, text: String) {
        #expect(StatusTable.duration(seconds) == text)
    }

    /// What Prometheus reads: gauges of what stands now, beside what is counted.
    @Test func theStatusBecomesGauges() {
        let metrics = MetricsRegistry()
        Self.status(reasons: ["no"]).write(to: metrics)
        let text = metrics.render()
        for line in [
            "martlet_ready 0", "martlet_lanes 1", "martlet_lanes_stalled 0", "martlet_uptime_seconds 3725",
            #"martlet_queue_messages{queue="push.requests"} 12"#, #"martlet_amqp_connected{role="consume"} 0"#,
            #"martlet_build_info{version="0.1.0",librabbitmq="\#(AMQPLibrary.version)"} 1"#,
        ] { #expect(text.contains("\n\(line)\n"), "\(line)") }
        Self.status().write(to: metrics)
        #expect(metrics.render().contains("\nmartlet_ready 1\n"))
    }
}
