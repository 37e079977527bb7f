import AMQP
import APNSProtocol
import BrokerTopology
import EventLoop
import HTTPClient
import JSON
import Registrations
import Telemetry
import Testing
import Text

@testable import Configuration
@testable import ControlProtocol
@testable import Delivery
@testable import MartletCLI
@testable import Worker

/// The response to `/status`, which `martlet status` reads and prints.
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
        _ process: Int = 7, reasons: [String] = [], paused: [PauseScope] = [], broker: String = "rabbit:5672",
        queues: [WorkerStatus.Queue] = [.init(name: "push.requests", messages: 12, consumers: 2)],
        totals: WorkerTotals = WorkerTotals(), retired: [WorkerStatus.Lane] = []
    ) -> WorkerStatus {
        var status = WorkerStatus(worker: "host/\(process)/0.1.0")
        status.version = "0.1.0"
        (status.processID, status.uptimeSeconds, status.phase) = (process, 3725, .running)
        (status.isReady, status.reasons) = (reasons.isEmpty, reasons)
        (status.inFlight, status.totals) = (9, totals)
        (status.broker, status.prefix) = (broker, "push")
        (status.queues, status.queuesSecondsOld) = (queues, 4)
        status.paused = paused.map(\.description)
        status.certificates = [.init(name: "com.example.shop", notAfterSeconds: 1_800_000_000)]
        (status.lanes, status.retiredLanes) = ([.init(number: 0, makesProgress: true)], retired)
        return status
    }

    private static func answer(_ status: WorkerStatus) throws -> StatusAnswer {
        try StatusAnswer(HTTPResponse(status: 200, body: status.json))
    }

    @Test func everyMemberIsReadAsWritten() throws {
        let status = Self.complete
        let answer = try Self.answer(status)
        #expect(answer.status == status)
        #expect(!answer.json.contains("\n"))
        #expect(answer.json == Self.completeJSON)
    }

    private static var complete: WorkerStatus {
        var pool = WorkerStatus.Pool(host: "api.push.apple.com", environment: .sandbox, keyID: "ABC123DEFG")
        (pool.teamID, pool.connections, pool.isConnected) = ("TEAM123456", 2, true)
        (pool.streams, pool.waiting, pool.tokenAgeSeconds) = (3, 4, 50)
        var lane = WorkerStatus.LaneReport(isReady: true, wantsRequests: true, isDraining: true, paused: ["key K"])
        (lane.inFlight, lane.unconfirmed, lane.unpublished) = (1, 2, 3)
        lane.publishingFailure = "nacked"
        lane.queues = [.init(name: "push.requests.0", isConsumed: true, unsettled: 4)]
        lane.pools = [pool, .init(certificate: "shop", waiting: 5)]

        var status = status(reasons: ["a \"reason\"\u{1B}"], paused: [.key("K")])
        status.totals = totals(1, milliseconds: 7)
        status.queues = [.init(name: "push.requests.0", shardOf: "push.requests", messages: 12, consumers: 2)]
        status.channelCommands = .init(isConsuming: true, isReplying: false, reasons: ["no queue"])
        status.registrations = .init(isConsuming: true, isPublishing: true, isStoring: false, reasons: ["disk full"])
        status.registrations?.dataKeys = [.init(id: 1, fingerprint: "3f2a90c1", isActive: true)]
        status.breakers = [.init(route: "key K", code: "Shutdown", sentence: "APNs ends.", secondsOpen: 6)]
        status.limitedApps = [
            .init(bundleID: "com.example.shop", inFlight: 1, waiting: 2, secondsLimited: 3, secondsBehind: 4)
        ]
        status.pauses = [.init(target: "key K", note: PauseNote(by: "ana", reason: "rotation"), seconds: 182)]
        (status.logLinesDropped, status.spansDropped) = (7, 8)
        status.lanes = [.init(number: 0, makesProgress: true, report: lane), .init(number: 1)]
        status.retiredLanes = [.init(number: 2, makesProgress: true)]
        return status
    }

    private static var completeJSON: String {
        let latency = complete.totals.latency
        func list(_ numbers: [Int]?) -> String { (numbers ?? []).map(String.init).joined(separator: ",") }
        return #"""
            {"worker":"host/7/0.1.0","version":"0.1.0","process_id":7,"uptime_seconds":3725,"phase":"running",\#
            "ready":false,"reasons":["a \"reason\"\u001b"],"in_flight":9,"totals":{"taken":4,"accepted":1,\#
            "rejected":2,"expired":0,"invalid":0,"unknown":0,"dead_letters":0,"retried":1,"held":0,\#
            "quarantined":0,"requeued":0,"duplicates":0,"unknown_outcomes":0,"publish_repeats":0,"latency":\#
            {"bounds_nanoseconds":[\#(list(latency?.bounds))],"counts":[\#(list(latency?.counts))],\#
            "sum_nanoseconds":7000000}},"broker":"rabbit:5672","prefix":"push","queues":[{"name":"push.requests.0",\#
            "shard_of":"push.requests","messages":12,"consumers":2}],"queues_seconds_old":4,"channel_commands":\#
            {"consumed":true,"replying":false,"reasons":["no queue"]},"registrations":{"consumed":true,\#
            "publishing":true,"storing":false,"reasons":["disk full"],"data_keys":[{"id":1,\#
            "fingerprint":"3f2a90c1","active":true}]},"breakers":[{"route":"key K",\#
            "code":"Shutdown","sentence":"APNs ends.","seconds_open":6}],\#
            "limited_apps":[{"app":"com.example.shop","in_flight":1,\#
            "waiting":2,"seconds_limited":3,"seconds_behind":4}],"paused":["key K"],"pauses":[{"target":"key K",\#
            "by":"ana","reason":"rotation","seconds_paused":182}],"certificates":[{"name":"com.example.shop",\#
            "not_after_unix_seconds":1800000000}],"log_lines_dropped":7,"spans_dropped":8,"lanes":[{"lane":0,\#
            "turning":true,"ready":true,"taking_messages":true,"draining":true,"paused":["key K"],"in_flight":1,\#
            "unconfirmed":2,"unpublished":3,"publishing_failure":"nacked","queues":[{"name":"push.requests.0",\#
            "consumed":true,"unsettled":4}],"apns":[{"host":"api.push.apple.com","environment":"sandbox","key_id":\#
            "ABC123DEFG","team_id":"TEAM123456","connections":2,"connected":true,"streams":3,"waiting":4,\#
            "token_age_seconds":50},{"host":"-","environment":"production","certificate":"shop","connections":0,\#
            "connected":false,"streams":0,"waiting":5}]},{"lane":1,"turning":false}],"lanes_leaving":[{"lane":2,\#
            "turning":true}]}
            """#
    }

    /// A later version may add members. An earlier version reports fewer members.
    @Test func otherVersionsAreRead() throws {
        let text = #"{"later":[1],"worker":"host/7/9.0","phase":"resting","lanes":[{"lane":0,"load":2}]}"#
        let status = try StatusAnswer(HTTPResponse(status: 200, body: Array(text.utf8))).status
        #expect(status.worker == "host/7/9.0" && status.phase.rawValue == "resting" && !status.isReady)
        #expect(status.lanes == [.init(number: 0)] && status.prefix == nil && status.totals == WorkerTotals())
    }

    // The response of another process may be malformed.
    @Test(arguments: [
        #"{"bounds_nanoseconds":[2,1],"counts":[0,0,0]}"#, #"{"bounds_nanoseconds":[1],"counts":[1]}"#,
        #"{"bounds_nanoseconds":[-1],"counts":[1,1]}"#, #"{"bounds_nanoseconds":[1],"counts":[1,9007199254740993]}"#,
    ])
    func malformedLatenciesAreErrors(_ latency: String) {
        let text = #"{"worker":"w","totals":{"latency":\#(latency)}}"#
        #expect(throws: StatusError.self) { try StatusAnswer(HTTPResponse(status: 200, body: Array(text.utf8))) }
    }

    private static func table(of json: String) throws -> String {
        let status = try StatusAnswer(HTTPResponse(status: 200, body: Array(json.utf8))).status
        let difference = status.totals.since(WorkerTotals())
        let line = StatusTable.Line(address: "x", status: .success(status), difference: difference)
        return StatusTable(lines: [line, line], seconds: 2, hasColors: false).text
    }

    /// For each number at both ends of its range, the table is printed or the status is refused.
    @Test func anExtremeNumberTrapsNowhere() throws {
        let text = Self.completeJSON
        for number in text.matches(of: /[:,\[](-?[0-9]+)(?=[,\]}])/).map({ $0.1 }) {
            for extreme in [Int.min, .max] {
                let json = text[..<number.startIndex] + "\(extreme)" + text[number.endIndex...]
                if let table = try? Self.table(of: String(json)) { #expect(table.contains("host/7")) }
            }
        }
    }

    @Test(arguments: [
        #"{"rejected":9223372036854775807,"invalid":9223372036854775807,"expired":-9223372036854775808}"#,
        #"{"latency":{"bounds_nanoseconds":[9223372036854775807],"counts":[1,1],"sum_nanoseconds":1}}"#,
        #"{"latency":{"bounds_nanoseconds":[1,9007199254740992],"counts":[0,1,1],"sum_nanoseconds":1}}"#,
    ])
    func extremeTotalsTrapNowhere(totals: String) {
        _ = try? Self.table(of: #"{"worker":"w","totals":\#(totals)}"#)
    }

    // `publish --wait` names the workers that may consume its requests.
    @Test func workersOfOtherPrefixesOrBrokersAreIgnored() throws {
        let status = Self.status()
        #expect(status.uses(broker: "rabbit:5672", prefix: "push"))
        #expect(!status.uses(broker: "rabbit:5672", prefix: "staging"))
        #expect(!status.uses(broker: "rabbit:5672/staging", prefix: "push"))
        // Earlier versions do not report the prefix.
        let former = try StatusAnswer(
            HTTPResponse(status: 200, body: Array(#"{"worker":"host/7/0.1.0","broker":"rabbit:5672"}"#.utf8))
        ).status
        #expect(former.uses(broker: "rabbit:5672", prefix: "staging"))
    }

    /// Each notation of a loopback address is recognized, because a loopback listener trusts only loopback names.
    @Test(arguments: [
        ("127.0.0.1", true), ("127.1", true), ("2130706433", true), ("0x7f.1", true), ("017700000001", true),
        ("::1", true), ("0:0:0:0:0:0:0:1", true), ("::ffff:127.0.0.1", true), ("::ffff:7f00:1", true),
        ("0.0.0.0", false), ("::", false), ("10.127.0.1", false), ("::ffff:10.0.0.1", false), ("128.0.0.1", false),
        ("::2", false), ("fe80::1", false),
    ])
    func loopbackHasManyForms(_ host: String, _ isLoopback: Bool) {
        #expect(Endpoint(host: host, port: 9780).isLoopback == isLoopback)
    }

    // Pushes do not need channel commands.
    @Test func channelCommandsDoNotAffectReadiness() throws {
        var status = Self.status()
        #expect(try JSONDocument(status.json).root["channel_commands"] == nil)
        status.channelCommands = .init(isReplying: true, reasons: ["queue push.channels is missing"])
        let root = try JSONDocument(status.json).root
        let commands = root["channel_commands"]
        #expect(commands?["consumed"]?.bool == false && commands?["replying"]?.bool == true)
        #expect(commands?["reasons"]?.elements.compactMap(\.string) == ["queue push.channels is missing"])
        #expect(root["ready"]?.bool == true && root["reasons"]?.count == 0)
    }

    @Test func theDataKeysAreShownDuringTheirReplacement() {
        var status = Self.status()
        status.registrations = .init(isConsuming: true, isPublishing: true, isStoring: true)
        status.registrations?.dataKeys = [.init(id: 1, fingerprint: "3f2a90c1", isActive: true)]
        var line = StatusTable.Line(address: "a", status: .success(status), difference: nil)
        #expect(!StatusTable(lines: [line], seconds: 1, hasColors: false).text.contains("data keys"))
        status.registrations?.dataKeys.append(.init(id: 2, fingerprint: "9c41d0aa", isActive: false))
        line.status = .success(status)
        let text = StatusTable(lines: [line], seconds: 1, hasColors: false).text
        #expect(text.contains("registrations: data keys 1 (3f2a90c1, active), 2 (9c41d0aa)\n"), "\(text)")
    }

    // Requests to tokens do not need the store.
    @Test func aFaultOfTheStoreIsShownAndDoesNotAffectReadiness() throws {
        var status = Self.status()
        #expect(try JSONDocument(status.json).root["registrations"] == nil)
        let fault = "the store refuses the login: correct the password"
        status.registrations = .init(isConsuming: true, isPublishing: true, reasons: [fault])
        let root = try JSONDocument(status.json).root
        #expect(root["registrations"]?["storing"]?.bool == false && root["ready"]?.bool == true)
        let line = StatusTable.Line(address: "a", status: .success(status), difference: nil)
        let text = StatusTable(lines: [line], seconds: 1, hasColors: false).text
        #expect(text.contains("\nhost/7/0.1.0: registrations: \(fault)\n"), "\(text)")
    }

    @Test(arguments: [(200, "<html>"), (404, #"{"error":"x"}"#), (200, "{}"), (200, "")])
    func foreignResponsesAreErrors(status: Int, body: String) {
        #expect(throws: StatusError.self) {
            try StatusAnswer(HTTPResponse(status: status, body: Array(body.utf8)))
        }
    }

    @Test func ratesAndTimesCoverTheTimeSinceThePreviousSnapshot() throws {
        let (before, now) = (Self.totals(10, milliseconds: 7), Self.totals(210, milliseconds: 7))
        let line = StatusTable.Line(
            address: "x", status: .success(Self.status(totals: now)), difference: now.since(before))
        let text = StatusTable(lines: [line], seconds: 2, hasColors: false).text
        let rows = text.split(separator: "\n")
        #expect(rows[0].hasPrefix("WORKER        STATE  UP     LANES  IN FLIGHT  TAKEN/S  ACCEPTED/S  REFUSED/S"))
        #expect(
            rows[1].split(separator: " ") == [
                "host/7/0.1.0", "ready", "1h", "2m", "1", "9", "100", "100", "0", "0", "0", "7.5", "ms", "9.95", "ms",
            ])
        #expect(rows.last?.split(separator: " ") == ["push.requests", "12", "2", "4s", "ago"])
    }

    @Test func reasonsAreBelowTheTable() throws {
        let lines = [
            StatusTable.Line(
                address: "x", status: .success(Self.status(reasons: ["no\u{1B}[2J queue"])), difference: nil),
            StatusTable.Line(address: "/run/y.sock", status: .failure(StatusError(message: "silent"))),
        ]
        let text = StatusTable(lines: lines, seconds: 1, hasColors: false).text
        #expect(text.contains("host/7/0.1.0  not ready") && text.contains("/run/y.sock   unreachable"))
        #expect(text.contains("host/7/0.1.0: no\u{FFFD}[2J queue\n") && text.contains("/run/y.sock: silent\n"))
    }

    @Test func retiredLanesAreBelowTheTable() throws {
        var stuck: [String] = []
        for inFlight in [3, 4] {
            let lane = WorkerStatus.LaneReport(inFlight: inFlight, publishingFailure: "push.results: nacked")
            let retired = [1, 2].map { WorkerStatus.Lane(number: $0, makesProgress: true, report: lane) }
            let line = StatusTable.Line(address: "x", status: .success(Self.status(retired: retired)), difference: nil)
            stuck += StatusTable(lines: [line], seconds: 1, hasColors: false).text.split(separator: "\n")
                .filter { $0.contains("previous configuration") }.map(String.init)
        }
        #expect(
            stuck
                == [6, 8].map { count in
                    "host/7/0.1.0: lanes of a previous configuration: 2, requests in flight: \(count): cannot "
                        + "publish outcomes: push.results: nacked"
                })
    }

    private static func rows(_ statuses: [WorkerStatus], from title: String) -> [String] {
        let lines = statuses.map { StatusTable.Line(address: "x", status: .success($0), difference: nil) }
        let text = StatusTable(lines: lines, seconds: 1, hasColors: false).text
        let rows = text.split(separator: "\n", omittingEmptySubsequences: false).drop { !$0.hasPrefix(title) }
        return rows.prefix { !$0.isEmpty }.map { $0.split(separator: " ").joined(separator: " ") }
    }

    @Test func limitedAppsAreBelowTheTable() throws {
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
        #expect(Self.rows([status], from: "LIMITED APP") == [])
        status.limitedApps = WorkerStatus.limitedApps(of: lanes)
        #expect(
            Self.rows([status], from: "LIMITED APP") == [
                "LIMITED APP SINCE BEHIND IN FLIGHT", "com.example.shop 1m 30s 20s 5",
            ])
        let metrics = MetricsRegistry()
        WorkerSnapshot(status: status, lanes: [], retired: []).write(to: metrics)
        let text = metrics.render()
        #expect(text.contains("martlet_app_limit_behind_seconds{app=\"com.example.shop\"} 20\n"), "\(text)")
    }

    @Test func pausesAreShownWithTheirWorker() throws {
        let one = [Self.status(1, paused: [.everything, .key("K")]), Self.status(2, paused: [.key("K")])]
        #expect(
            Self.rows(one, from: "HELD") == [
                "HELD CODE SINCE WORKER DETAIL",
                "everything paused - host/1/0.1.0 to resume, run: martlet resume",
                "key K paused - all to resume, run: martlet resume --key K",
            ])
    }

    @Test func shardsOfAQueueAreOneLine() throws {
        var status = Self.status(
            queues: (0..<3).map { .init(name: "push.requests.\($0)", messages: $0 * 10, consumers: 5 - $0) }
                + [.init(name: "push.dead", messages: 1)])
        #expect(try JSONDocument(status.json).root["queues"]?.elements.first { _ in true }?["shard_of"] == nil)
        let shards = TopologyNames(shards: ["push.requests": 3]).queueByShard
        for index in status.queues.indices { status.queues[index].shardOf = shards[status.queues[index].name] }
        #expect(
            Self.rows([status, status], from: "QUEUE") == [
                "QUEUE MESSAGES CONSUMERS CHECKED",
                "push.requests, 3 shards 30 (20 in push.requests.2) 3 4s ago", "push.dead 1 0 4s ago",
            ])
        let json = try JSONDocument(status.json).root["queues"]?.elements.compactMap { $0["shard_of"]?.string }
        #expect(json == ["push.requests", "push.requests", "push.requests"])
    }

    @Test func queuesOfTwoBrokersAreSeparate() throws {
        let queues = [WorkerStatus.Queue(name: "push.requests", messages: 3)]
        let two = [Self.status(1), Self.status(2, queues: queues), Self.status(3, broker: "hare:5672", queues: queues)]
        #expect(
            Self.rows(two, from: "QUEUE") == [
                "QUEUE BROKER MESSAGES CONSUMERS CHECKED", "push.requests rabbit:5672 12 2 4s ago",
                "push.requests hare:5672 3 0 4s ago",
            ])
    }

    /// The table shows a request queue without consumers and messages, but no empty wait queue.
    @Test func anUnusedQueueIsShown() throws {
        let names = ["push.requests", "push.wait.30s.1"]
        let status = Self.status(queues: names.map { .init(name: $0) })
        #expect(
            Self.rows([status], from: "QUEUE") == ["QUEUE MESSAGES CONSUMERS CHECKED", "push.requests 0 0 4s ago"])
    }

    /// The printed command resumes exactly this pause.
    @Test(arguments: [
        (PauseScope.everything, "martlet resume"), (.key("ABC123DEFG"), "martlet resume --key ABC123DEFG"),
        (.topic("com.example.app"), "martlet resume --topic com.example.app"),
    ])
    func aPauseIsShownWithItsResumeCommand(scope: PauseScope, command: String) throws {
        let line = StatusTable.Line(address: "x", status: .success(Self.status(paused: [scope])), difference: nil)
        let text = StatusTable(lines: [line], seconds: 1, hasColors: false).text
        #expect(text.contains("\(scope)") && text.contains("  to resume, run: \(command)\n"), "\(text)")
    }

    @Test(arguments: [(0, "0s"), (59, "59s"), (60, "1m 0s"), (3725, "1h 2m"), (90_061, "1d 1h")])
    func durationsAreShort(seconds: Int, text: String) {
        #expect(ElapsedTime.text(seconds: seconds) == text)
    }

    /// The worker exports its current status as gauges, in addition to counters.
    @Test func theStatusBecomesGauges() {
        let metrics = MetricsRegistry()
        func write(_ status: WorkerStatus) {
            let lanes = [WorkerSnapshot.Lane(number: 0, makesProgress: true, status: nil)]
            WorkerSnapshot(status: status, lanes: lanes, retired: []).write(to: metrics)
        }
        write(Self.status(reasons: ["no"]))
        let text = metrics.render()
        for line in [
            "martlet_ready 0", "martlet_lanes 1", "martlet_lanes_stalled 0", "martlet_uptime_seconds 3725",
            #"martlet_queue_messages{queue="push.requests"} 12"#, #"martlet_amqp_connected{role="consume"} 0"#,
            #"martlet_build_info{version="0.1.0",librabbitmq="\#(AMQPLibrary.version)"} 1"#,
        ] { #expect(text.contains("\n\(line)\n"), "\(line)") }
        write(Self.status())
        #expect(metrics.render().contains("\nmartlet_ready 1\n"))
    }
}
