import AMQP
import CLinux
import JSON
import TestKit
import Testing

/// The worker, run as a process, with a real broker and the simulator.
@Suite(.timeLimit(.minutes(10))) struct WorkerProcessTests {
    @Test func aMistakeInTheConfigurationEndsTheWorkerBeforeItStarts() async throws {
        let directory = try TemporaryDirectory()
        try directory.write("martlet.yaml", "amqp:\n  ulr: amqp://rabbit\napns: {keys: []}\n")
        let path = directory.file("martlet.yaml")
        let result = try await ChildProcess.run([Products.executable("martlet"), "worker", "--config", path])
        #expect(result.exit.status == .exited(2))
        #expect(
            result.errors == [
                #"martlet: \#(path):1:1: the file lacks the property "apps""#,
                #"martlet: \#(path):2:3: amqp lacks the property "url""#,
                "martlet: \(path):2:3: unknown key 'ulr'; did you mean 'url'?",
                "martlet: \(path):3:14: apns.keys must have at least 1 element",
            ])
    }

    @Test func workerPushesReportsAndDrains() async throws {
        let stage = try await Stage(prefix: "drained")
        let worker = try await stage.worker()
        try await stage.publish()
        let results = try await stage.results(count: 1)
        #expect(results.first?.contains(#""outcome":"accepted","status":200"#) == true)
        worker.send(signal: SIGTERM)
        #expect(try await worker.exit().status == .exited(0))
        let last = try #require(await worker.errors.allLines().last)
        let counters = try JSONDocument(last).root
        #expect(counters["message"]?.string == "stopped")
        #expect(counters["message.delivered"]?.int == 1)
        #expect(counters["message.duplicates"]?.int == 0)
        #expect(counters["message.publish_repeats"]?.int == 0)
        #expect(counters["message.accepted"]?.int == 1)
        #expect(counters["message.in_flight"]?.int == 0)
        #expect(counters["process.exit_code"]?.int == 0)
        try await stage.end()
    }

    @Test func workerNamesMissingTopologyAndStartsOnceItExists() async throws {
        let stage = try await Stage(prefix: "unprepared")
        let worker = try await stage.waitingWorker()
        let warning = try await worker.errors.line { $0.contains("martlet topology apply") }
        #expect(warning.contains(#""level":"warning""#))
        for name in ["queue unprepared.requests", "queue unprepared.wait.30s.1", "exchange unprepared.dead"] {
            #expect(warning.contains(name), "\(name)")
        }
        #expect(!warning.contains("queue unprepared.results") && !warning.contains("exchange unprepared.requests"))
        try await stage.applyTopology()
        _ = try await worker.errors.line { $0.contains("broker topology complete") }
        _ = try await worker.errors.line { $0.contains(#""message":"ready""#) }
        try await stage.publish()
        #expect(try await stage.results(count: 1).count == 1)
        worker.send(signal: SIGTERM)
        #expect(try await worker.exit().status == .exited(0))
        let lines = await worker.errors.allLines()
        #expect(lines.count { $0.contains("martlet topology apply") } == 1)
        try await stage.end()
    }

    @Test func aWorkerThatWaitsForItsTopologyStopsImmediately() async throws {
        let stage = try await Stage(prefix: "abandoned", drainSeconds: 600)
        let worker = try await stage.waitingWorker()
        _ = try await worker.errors.line { $0.contains("martlet topology apply") }
        worker.send(signal: SIGTERM)
        #expect(try await worker.exit().status == .exited(0))
        try await stage.end()
    }

    @Test func aWorkerWithoutABrokerLogsItOnceAndStopsImmediately() async throws {
        let port = try FreePort.choose()
        let stage = try await Stage(prefix: "alone", drainSeconds: 600, url: "amqp://127.0.0.1:\(port)")
        let worker = try await stage.waitingWorker()
        let warning = try await worker.errors.line { $0.contains("broker unreachable") }
        #expect(warning.contains("127.0.0.1:\(port)") && warning.contains("Connection refused"))
        // The memory of a worker contains keys, so the worker must not dump core.
        let limits = try await ChildProcess.run(["grep", "core file size", "/proc/\(worker.pid)/limits"]).output
        #expect(limits.first?.split(separator: " ").dropFirst(4).prefix(2) == ["0", "0"])
        worker.send(signal: SIGINT)
        #expect(try await worker.exit().status == .exited(0))
        let lines = await worker.errors.allLines()
        #expect(lines.count { $0.contains("broker unreachable") } == 1)
        try await stage.end()
    }

    /// The worker may read and write names with its prefix, and may configure nothing.
    @Test func aWorkerWithoutConfigurePermissionStarts() async throws {
        let stage = try await Stage(
            prefix: "limited", user: "limited", password: "hunter2", permissions: ["^$", "^limited\\.", "^limited\\."])
        let applied = try await ChildProcess.run([
            Products.executable("martlet"), "topology", "apply", "--url", stage.broker.url, "--prefix", "limited",
        ])
        #expect(applied.exit.status == .exited(0))
        let worker = try await stage.waitingWorker()
        _ = try await worker.errors.line { $0.contains(#""message":"ready""#) }
        try await stage.publish()
        #expect(try await stage.results(count: 1).count == 1)
        worker.send(signal: SIGTERM)
        #expect(try await worker.exit().status == .exited(0))
        try await stage.end()
    }

    @Test func aWorkerWithoutRegistrationsLoadsNoLibraryOfAStore() async throws {
        let stage = try await Stage(prefix: "storeless")
        let worker = try await stage.worker()
        try await stage.publish()
        _ = try await stage.results(count: 1)
        let maps = try await ChildProcess.run(["cat", "/proc/\(worker.pid)/maps"]).output
        #expect(maps.contains { $0.contains("librabbitmq") })
        #expect(!maps.contains { $0.contains("libpq") || $0.contains("libsqlite3") })
        worker.send(signal: SIGTERM)
        #expect(try await worker.exit().status == .exited(0))
        try await stage.end()
    }

    @Test func unansweredRequestsAreRequeuedAtTheDeadline() async throws {
        let stage = try await Stage(prefix: "overdue", answerDelayMilliseconds: 600_000)
        let worker = try await stage.worker()
        try await stage.publish()
        try await stage.untilAsked()
        worker.send(signal: SIGINT)
        #expect(try await worker.exit().status == .exited(4))
        let last = try #require(await worker.errors.allLines().last)
        #expect(try JSONDocument(last).root["message.delivered"]?.int == 1)
        let back = try await BrokerClients.consume(1, from: "overdue.requests", at: stage.broker.url)
        #expect(back.map(\.isRedelivered) == [true])
        try await stage.end()
    }

    @Test(arguments: [(SIGTERM, 143), (SIGINT, 130)] as [(Int32, Int32)])
    func aSecondSignalEndsTheProcessImmediately(signal: Int32, code: Int32) async throws {
        let stage = try await Stage(prefix: "impatient\(code)", answerDelayMilliseconds: 600_000, drainSeconds: 600)
        let worker = try await stage.worker()
        try await stage.publish()
        try await stage.untilAsked()
        worker.send(signal: SIGTERM)
        _ = try await worker.errors.line { $0.contains(#""message":"draining""#) }
        worker.send(signal: signal)
        #expect(try await worker.exit().status == .exited(code))
        try await stage.end()
    }

    @Test func logsContainNoSecretAndNoCompleteToken() async throws {
        let stage = try await Stage(prefix: "discreet", user: "discreet", password: "hunter2")
        let worker = try await stage.worker(logLevel: "debug")
        try await stage.publish()
        _ = try await stage.results(count: 1)
        worker.send(signal: SIGTERM)
        _ = try await worker.exit()
        let log = await worker.errors.allLines().joined()
        #expect(log.contains(#""message":"ready""#))
        #expect(!log.contains("hunter2") && !log.contains("PRIVATE KEY") && !log.contains(Stage.token))
        try await stage.end()
    }
}

/// A topology with its own prefix, a simulator, and a configuration for both.
struct Stage {
    static let token = String(repeating: "0a1b2c3d", count: 8)

    let broker: PrivateBroker
    private let simulator: ChildProcess
    let directory: TemporaryDirectory
    private let url: String
    private let prefix: String
    private let drainSeconds: Int
    private let port: Int

    init(
        prefix: String, answerDelayMilliseconds: Int = 0, drainSeconds: Int = 1, user: String? = nil,
        password: String = "", permissions: [String] = [".*", ".*", ".*"], url: String? = nil
    ) async throws {
        self.prefix = prefix
        self.drainSeconds = drainSeconds
        directory = try TemporaryDirectory()
        broker = try await PrivateBroker.shared
        if let user {
            _ = try await broker.rabbitmqctl("add_user", user, password)
            _ = try await broker.rabbitmqctl("set_permissions", user, permissions[0], permissions[1], permissions[2])
            self.url = broker.url.replacing("guest:guest", with: "\(user):\(password)")
        } else {
            self.url = url ?? broker.url
        }
        simulator = try await ChildProcess([
            Products.executable("apns-simulator"), "--listen-production", "127.0.0.1:0",
            "--write-demo", directory.path, "--accept-unknown-devices", "--delay-ms", "\(answerDelayMilliseconds)",
        ])
        let ready = try JSONDocument(await simulator.output.line { $0.contains(#""event":"ready""#) }).root
        port = try #require(ready["production_port"]?.int)
        try directory.write(
            "request.json",
            """
            {"id":"3f2504e0-4f89-41d3-9a0c-0305e82c3301","app":"com.example.app","device_token":"\(Self.token)",
             "push_type":"alert","payload":{"aps":{"alert":"Hello"}}}
            """)
    }

    /// Applies the topology, starts a worker, and waits until the worker is ready.
    ///
    /// - Parameter section: a further section of the configuration.
    func worker(logLevel: String = "info", section: String = "") async throws -> ChildProcess {
        try writeConfiguration(logLevel: logLevel, section: section)
        try await applyTopology()
        let worker = try await start()
        _ = try await worker.errors.line { $0.contains(#""message":"ready""#) }
        return worker
    }

    /// Starts a worker and does not wait until it is ready. Does not apply the topology.
    func waitingWorker() async throws -> ChildProcess {
        try writeConfiguration(logLevel: "info")
        return try await start()
    }

    func applyTopology() async throws {
        try await martlet("topology", "apply", "--config", directory.file("martlet.yaml"))
    }

    private func start() async throws -> ChildProcess {
        try await ChildProcess([
            Products.executable("martlet"), "worker", "--config", directory.file("martlet.yaml"),
        ])
    }

    func writeConfiguration(logLevel: String, section: String = "") throws {
        try directory.write(
            "martlet.yaml",
            """
            amqp:
              url: \(url)
              prefix: \(prefix)
            apns:
              keys:
                - {key_id: DEMOKEY001, team_id: DEMOTEAM01, key_file: AuthKey_DEMOKEY001.p8}
              endpoints:
                production: {host: 127.0.0.1, port: \(port), ca_file: ca.pem}
            apps:
              com.example.app: {}
            limits: {drain_deadline_seconds: \(drainSeconds)}
            lanes: 1
            log: {level: \(logLevel)}
            \(section)
            """)
    }

    func publish() async throws {
        try await martlet("publish", "--config", directory.file("martlet.yaml"), directory.file("request.json"))
    }

    /// Consumes `count` results and returns their bodies.
    func results(count: Int) async throws -> [String] {
        try await BrokerClients.consume(count, from: "\(prefix).results", at: broker.url)
            .map { String(decoding: $0.body, as: UTF8.self) }
    }

    /// Waits until the simulator has exactly one unanswered request.
    func untilAsked() async throws {
        while true {
            simulator.send(signal: SIGUSR1)
            let line = try await simulator.output.line { $0.contains(#""event":"counters""#) }
            if try JSONDocument(line).root["in_flight"]?.int == 1 { return }
        }
    }

    func end() async throws {
        _ = try await simulator.terminate()
    }

    private func martlet(_ arguments: String...) async throws {
        let result = try await ChildProcess.run([Products.executable("martlet")] + arguments)
        try #require(result.exit.status == .exited(0), "\(result.errors)")
    }
}
