import AMQP
import Actions
import BrokerManagement
import BrokerTopology
import ControlProtocol
import Crypto
import DeadLetters
import Delivery
import EventLoop
import TestKit
import Testing

@testable import Configuration
@testable import MartletCLI

/// Fleet control at a real broker: declaration, comparison and users.
@Suite(.timeLimit(.minutes(10))) struct FleetBrokerTests {
    private static let brokerStart = Task { try await PrivateBroker(hasManagement: true) }

    private let folder: TemporaryDirectory
    private let broker: PrivateBroker

    init() async throws {
        folder = try TemporaryDirectory("fleet")
        try folder.write("AuthKey.p8", try ES256PrivateKey.generate().pkcs8PEM())
        broker = try await Self.brokerStart.value
    }

    /// Writes a configuration and returns its path.
    private func configure(
        _ prefix: String, user: String = "guest:guest", hasFleetControl: Bool = true, section: String = ""
    ) throws -> String {
        let management = try #require(broker.managementURL)
        return try folder.write(
            "martlet.yaml",
            """
            amqp: {url: "\(url(user))", prefix: \(prefix), management_url: "\(management)"}
            apns: {keys: [{key_id: ABC123DEFG, team_id: DEF123GHIJ, key_file: AuthKey.p8}]}
            apps: {com.example.app: {}}
            \(hasFleetControl ? "fleet: {}" : "")
            \(section)
            """)
    }

    private func url(_ user: String) -> String { broker.url.replacing("guest:guest", with: user) }

    private func martlet(
        _ arguments: String...
    ) async throws -> (exit: ChildExit, output: [String], errors: [String]) {
        try await ChildProcess.run([Products.executable("martlet")] + arguments)
    }

    /// Runs shell commands with the broker's `rabbitmqctl`.
    private func shell(_ lines: [String]) async throws {
        let file = try folder.write("script", lines.joined(separator: "\n") + "\n")
        let run = try await ChildProcess.run([
            "/bin/sh", "-c", "PATH=\(broker.directory):$PATH exec /bin/sh -eu \(file)",
        ])
        try #require(run.exit.status == .exited(0), "\(run.output) \(run.errors)")
    }

    // MARK: Declaration

    @Test func aSecondDeclarationChangesNothing() async throws {
        let config = try configure("twice")
        let first = try await martlet("topology", "apply", "--config", config)
        #expect(first.exit.status == .exited(0), "\(first.errors)")
        for object in [
            "exchange twice.control", "exchange twice.fleet", "queue twice.pauses", "queue twice.commands",
            "twice.pauses to twice.control by pauses", "twice.commands to twice.control by command.#",
            "twice.commands to twice.control by audit.#",
        ] {
            #expect(first.output.contains("created  \(object)"))
        }
        let second = try await martlet("topology", "apply", "--config", config)
        #expect(second.exit.status == .exited(0) && second.output.allSatisfy { $0.hasPrefix("present  ") })
        #expect(second.output.count == first.output.count)
        let check = try await martlet("topology", "check", "--config", config)
        #expect(check.exit.status == .exited(0) && check.output.last?.hasSuffix(" ok, 0 missing or mismatched") == true)
    }

    @Test func thePrintedScriptDeclaresTheSame() async throws {
        let config = try configure("printed")
        let version = try #require(
            try await BrokerClients.withAdmin(broker.url) {
                try await $0.declareQueue("printed")
                return BrokerVersion($0.serverProperties)
            })
        let script = try await martlet(
            "topology", "print", "--config", config, "--format", "rabbitmqctl", "--broker", "\(version)")
        try await shell(script.output)
        let check = try await martlet("topology", "check", "--config", config)
        #expect(check.exit.status == .exited(0), "\(check.output)")
    }

    // `delete_queue --if-empty` does not protect a stream, because RabbitMQ 3.10 counts no record as a ready message.
    @Test func theRemedyReplacesAStreamWithRecords() async throws {
        let config = try configure("stale")
        try await BrokerClients.withAdmin(broker.url) {
            try await $0.declareQueue(
                "stale.pauses", arguments: ["x-queue-type": "stream", "x-max-length-bytes": 1_000_000])
        }
        let published = try await BrokerClients.publish(
            [OutgoingMessage(exchange: "", routingKey: "stale.pauses", body: [1], messageID: "one")], to: broker.url)
        #expect(published == [.confirmed])
        let refused = try await martlet("topology", "apply", "--config", config)
        #expect(refused.exit.status == .exited(1))
        let check = try await martlet("topology", "check", "--config", config)
        let line = try #require(check.output.first { $0.hasPrefix("differs  queue stale.pauses: ") })
        #expect(line.contains("x-max-length-bytes is 1000000 instead of 20000000"))
        let command = try #require(line.firstMatch(of: /run (rabbitmqctl [^,]*),/)).output.1
        #expect(refused.errors.contains { $0.contains(command) }, "\(refused.errors)")
        try await shell([String(command)])
        let applied = try await martlet("topology", "apply", "--config", config)
        #expect(applied.exit.status == .exited(0) && applied.output.contains("created  queue stale.pauses"))
    }

    // MARK: Pauses

    private func fleet(
        _ config: String, _ arguments: String...
    ) async throws -> (exit: ChildExit, output: [String], errors: [String]) {
        try await ChildProcess.run([Products.executable("martlet")] + arguments + ["--config", config])
    }

    /// Publishes messages that are no records of pauses, half of them behind the exchange of operators.
    private func publishOthers(_ count: Int, prefix: String) async throws {
        let messages = (0..<count).map { number in
            number.isMultiple(of: 2)
                ? OutgoingMessage(exchange: "", routingKey: "\(prefix).pauses", body: [1], messageID: "\(number)")
                : OutgoingMessage(
                    exchange: "\(prefix).control", routingKey: "pauses", body: Array("{}".utf8),
                    messageID: "\(number)")
        }
        let outcomes = try await BrokerClients.publish(messages, to: broker.url)
        #expect(outcomes.allSatisfy { $0 == .confirmed })
    }

    /// Runs an operator's work in a session.
    private func withSession<Value: Sendable>(
        _ prefix: String, _ work: @escaping @Sendable (FleetSession) async throws -> Value
    ) async throws -> Value {
        var settings = WorkerConfiguration.Broker(url: try AMQPURL(broker.url))
        settings.names = TopologyNames(prefix: prefix)
        let connector = try BrokerConnector(settings)
        return try await onEpollLoop { loop in
            let session = FleetSession(connector, on: loop, command: "tests")
            session.start()
            let result: Result<Value, any Error>
            do {
                result = .success(try await work(session))
            } catch {
                result = .failure(error)
            }
            await session.close()
            return try result.get()
        }
    }

    /// Changes the pauses. Returns the new revision, and the scopes that are then paused.
    private func change(
        _ prefix: String, _ scope: PauseScope, _ effect: PauseAction.Effect
    ) async throws -> (revision: Int, scopes: [PauseScope]) {
        let record = try await withSession(prefix) { session in
            try await PauseAction(scope, effect).write(in: session, by: "alice")
        }
        return (record.revision.number, record.pauses.map(\.scope))
    }

    // The stream's last chunk then contains no record.
    @Test func aChangeFollowsTheNewestRecordBehindOtherMessages() async throws {
        let config = try configure("others")
        _ = try await martlet("topology", "apply", "--config", config)
        let (app, key) = (PauseScope.topic("com.example.app"), PauseScope.key("ABC123DEFG"))
        let pause = PauseAction.Effect.pause(why: "test", seconds: nil)
        #expect(try await change("others", app, pause) == (1, [app]))
        try await publishOthers(200, prefix: "others")
        #expect(try await change("others", key, pause) == (2, [app, key]))
        try await publishOthers(1, prefix: "others")
        let error = await #expect(throws: PauseWriter.Failure.self) {
            _ = try await change("others", .everything, .resume)
        }
        if case .violation(let violation)? = error {
            #expect(violation.code == .notPaused)
        } else {
            Issue.record("\(String(describing: error))")
        }
        // The stream has a record, so no new series begins.
        let isFirst = try await withSession("others") { try await PauseWriter($0).writeFirst() }
        #expect(!isFirst)
        #expect(try await change("others", app, .resume) == (3, [key]))
    }

    @Test func aStreamWithOtherMessagesOnlyReceivesItsFirstRecord() async throws {
        let config = try configure("none")
        try await BrokerClients.withAdmin(broker.url) {
            try await $0.declareQueue(
                "none.pauses",
                arguments: [
                    "x-queue-type": "stream", "x-max-length-bytes": 20_000_000,
                    "x-stream-max-segment-size-bytes": 1_000_000,
                ])
        }
        let message = OutgoingMessage(exchange: "", routingKey: "none.pauses", body: [1], messageID: "one")
        #expect(try await BrokerClients.publish([message], to: broker.url) == [.confirmed])
        let applied = try await martlet("topology", "apply", "--config", config)
        #expect(applied.exit.status == .exited(0), "\(applied.errors)")
        let key = PauseScope.key("ABC123DEFG")
        #expect(try await change("none", key, .pause(why: "test", seconds: nil)) == (1, [key]))
    }

    // MARK: Audit

    @Test func commandsWriteTheAudit() async throws {
        let config = try configure("audited")
        _ = try await martlet("topology", "apply", "--config", config)
        // Each command waits for reports of workers.
        async let paused = fleet(config, "pause", "--fleet", "--topic", "com.example.app", "--reason", "it's wrong")
        async let resumed = fleet(config, "resume", "--fleet", "--topic", "com.example.other")
        async let probed = fleet(config, "probe", "--all", "--why", "repaired")
        #expect(try await paused.output == ["revision 1: in force at 0 of 0 workers that report"])
        #expect(try await resumed.output == ["unchanged: the fleet has no pause of topic com.example.other"])
        #expect(try await probed.errors.last == "martlet: no worker has replied")
        let audit = try await fleet(config, "audit")
        let lines = audit.output.map { $0.split(separator: " ").dropFirst(2).joined(separator: " ") }
        let pause = #"why: it's wrong; command: martlet pause --fleet --topic com.example.app --reason 'it'\''s wrong'"#
        let resume = "command: martlet resume --fleet --topic com.example.other"
        let probe = "why: repaired; command: martlet probe --all --why repaired"
        #expect(
            lines.sorted() == [
                "pause after done: \(pause); revision 1: in force at 0 of 0 workers that report",
                "pause before: \(pause)",
                "probe after failed: \(probe); no worker has replied",
                "probe before: \(probe)",
                "resume after done: \(resume); unchanged: the fleet has no pause of topic com.example.other",
                "resume before: \(resume)",
            ], "\(audit.errors)")
    }

    // MARK: Locks

    @Test func aRedriveHoldsTheLockAndAUserWithoutTheRightWorksWithoutIt() async throws {
        let config = try configure("locked")
        let applied = try await martlet("topology", "apply", "--config", config)
        #expect(applied.exit.status == .exited(0), "\(applied.errors)")
        try await onEpollLoop { [broker, self] loop in
            var settings = WorkerConfiguration.Broker(url: try AMQPURL(broker.url))
            settings.names = TopologyNames(prefix: "locked")
            let lock = QueueLock(of: .deadLetters, try BrokerConnector(settings), on: loop, command: "tests")
            #expect(try await lock.acquire())
            for words in [["redrive", "--all"], ["drop", "--export", folder.file("drop.jsonl"), "--yes"]] {
                let refused = try await ChildProcess.run(
                    [Products.executable("martlet"), "dead-letters"] + words + ["--config", config])
                #expect(refused.exit.status == .exited(1))
                #expect(
                    refused.errors == [
                        "martlet: another redrive, drop or edit is running; wait for its end, or stop it"
                    ])
            }
            await lock.release()
        }
        let alone = try await martlet("dead-letters", "redrive", "--all", "--config", config)
        #expect(alone.exit.status == .exited(0) && alone.errors == [], "\(alone.errors)")

        try await broker.rabbitmqctl("add_user", "unlocked", "word")
        try await broker.rabbitmqctl("set_permissions", "unlocked", "^$", "^locked\\.", "^locked\\.dead$")
        let unlocked = try configure("locked", user: "unlocked:word")
        let run = try await martlet("dead-letters", "redrive", "--all", "--config", unlocked)
        #expect(run.exit.status == .exited(0) && run.output == ["redriven 0; messages read: 0"], "\(run.errors)")
        #expect(run.errors.count == 1, "\(run.errors)")
        #expect(
            run.errors.first?.hasPrefix("martlet: a console or another command may use the queue: ") == true)
    }

    // MARK: Users

    private struct Rights {
        var configure: [String] = []
        var write: [String] = []
        var read: [String] = []
    }

    private static let rights = [
        "martlet-worker": Rights(write: ["fleet"], read: ["pauses", "commands"]),
        "martlet-operator": Rights(
            configure: ["watch", "lock"], write: ["control"], read: ["pauses", "commands", "watch.x", "lock.x"]),
        "martlet-viewer": Rights(configure: ["watch"], write: ["control"], read: ["pauses", "commands", "watch.x"]),
        "martlet-producer": Rights(), "martlet-results": Rights(),
    ]

    /// Returns the lines of `martlet doctor` about permissions.
    private func permissionLines(hasFleetControl: Bool = true) async throws -> [DoctorLine] {
        let path = try configure("fleet", user: "martlet-worker:word", hasFleetControl: hasFleetControl)
        return try await onEpollLoop { loop in await DoctorCheck.permissions.lines(DoctorContext(path), on: loop) }
    }

    @Test func everyUserHasExactlyItsPermissions() async throws {
        let config = try configure("fleet")
        let applied = try await martlet("topology", "apply", "--config", config)
        #expect(applied.exit.status == .exited(0), "\(applied.errors)")
        for user in Self.rights.keys { try await broker.rabbitmqctl("add_user", user, "word") }
        let named = try configure("fleet", user: "martlet-worker:word")
        let script = try await martlet("topology", "print", "--config", named, "--format", "rabbitmqctl").output
        let commands = script.filter { $0.hasPrefix("# rabbitmqctl set_") && !$0.contains("martlet-topology") }
        #expect(commands.count == 6)
        try await shell(commands.map { String($0.dropFirst(2)) })
        for queue in ["watch.x", "lock.x"] {
            try await BrokerClients.withAdmin(broker.url) { try await $0.declareQueue("fleet.\(queue)") }
        }
        for (user, rights) in Self.rights {
            try await BrokerClients.withAdmin(url("\(user):word")) { admin in
                for exchange in ["control", "fleet"] {
                    let found = try await admin.mayPublish(toExchange: "fleet.\(exchange)")
                    #expect(found == rights.write.contains(exchange), "\(user): \(exchange)")
                }
                for queue in ["pauses", "commands", "watch.x", "lock.x"] {
                    let found = try await admin.mayConsume(fromQueue: "fleet.\(queue)")
                    #expect(found == rights.read.contains(queue), "\(user): \(queue)")
                }
                for word in ["watch", "lock", "pauses", "commands", "control"] {
                    let found = await Self.isAllowed { () async throws(AMQPError) in
                        try await admin.declareQueue("fleet.\(word).\(user)")
                    }
                    #expect(found == rights.configure.contains(word), "\(user): \(word)")
                }
                guard rights.configure.contains("watch") else { return }
                for (exchange, mayBind) in [("fleet", true), ("control", false)] {
                    let found = await Self.isAllowed { () async throws(AMQPError) in
                        try await admin.bindQueue(
                            "fleet.watch.\(user)", toExchange: "fleet.\(exchange)", routingKey: "status.#")
                    }
                    #expect(found == mayBind, "\(user): \(exchange)")
                }
            }
        }
        try await expectPublishes(
            by: "martlet-viewer", to: "fleet.control",
            ["audit.login": true, "pauses": false, "command.report": false, "audit": false, "x.audit.login": false])
        try await expectPublishes(
            by: "martlet-operator", to: "fleet.control",
            ["audit.login": true, "pauses": true, "command.report": true])
        try await expectPublishes(by: "martlet-worker", to: "fleet.fleet", ["status.w": true])

        try await expectDoctorFindsMissingRights()
    }

    /// A right at the broker that a worker's user must not have.
    private struct Refusal {
        let name: String
        let attempt: (BrokerAdmin) async throws -> Void

        init(_ name: String, _ attempt: @escaping (BrokerAdmin) async throws -> Void) {
            (self.name, self.attempt) = (name, attempt)
        }
    }

    /// Every right of section A of the design, except writing the exchange `fleet` and reading the streams `pauses` and
    /// `commands`.
    private static func refusals(_ prefix: String) -> [Refusal] {
        let names = ["pauses", "commands", "journal", "watch.x", "lock.x", "dead", "wait.5s.1"]
        let queues = names.map { "\(prefix).\($0)" }
        let exchanges = ["control", "fleet"].map { "\(prefix).\($0)" }
        let arguments: FieldTable = ["x-queue-type": "stream"]
        var all: [Refusal] = []
        // Configure.
        for queue in queues + ["\(prefix).watch.new", "\(prefix).lock.pauses", "other"] {
            all.append(Refusal("declare \(queue)") { _ = try await $0.declareQueue(queue, arguments: arguments) })
            all.append(Refusal("delete \(queue)") { _ = try await $0.deleteQueue(queue) })
            all.append(Refusal("declare exclusive \(queue)") { try await $0.declareExclusiveQueue(queue) })
        }
        for exchange in exchanges + ["\(prefix).new"] {
            all.append(Refusal("declare \(exchange)") { try await $0.declareExchange(exchange, .topic) })
            all.append(Refusal("delete \(exchange)") { try await $0.deleteUnusedExchange(exchange) })
        }
        // Write the queue and read the exchange.
        for queue in queues {
            for exchange in exchanges + ["amq.topic"] {
                all.append(
                    Refusal("bind \(queue) to \(exchange)") {
                        try await $0.bindQueue(queue, toExchange: exchange, routingKey: "#")
                    })
                all.append(
                    Refusal("unbind \(queue) from \(exchange)") {
                        try await $0.unbindQueue(queue, fromExchange: exchange, routingKey: "pauses")
                    })
            }
        }
        // Read.
        for queue in queues where !["pauses", "commands"].contains(queue.dropFirst(prefix.count + 1)) {
            all.append(Refusal("get from \(queue)") { _ = try await $0.get(from: queue) })
            all.append(Refusal("purge \(queue)") { _ = try await $0.purge(queue) })
        }
        return all
    }

    // Goal 3 of section G of the design.
    @Test func aWorkersUserHasNoOtherRight() async throws {
        let config = try configure("least", section: "journal: {}")
        let applied = try await martlet("topology", "apply", "--config", config)
        #expect(applied.exit.status == .exited(0), "\(applied.errors)")
        try await broker.rabbitmqctl("add_user", "least", "word")
        let permissions = WorkerPermissions(Topology(names: TopologyNames(prefix: "least"), hasFleetControl: true))
        try await broker.rabbitmqctl("set_permissions", "least", "^$", permissions.write, permissions.read)
        try await BrokerClients.withAdmin(broker.url) { admin in
            for queue in ["watch.x", "lock.x"] { _ = try await admin.declareQueue("least.\(queue)") }
        }
        try await BrokerClients.withAdmin(url("least:word")) { admin in
            let refusals = Self.refusals("least")
            #expect(refusals.count > 80)
            for refusal in refusals {
                let isAllowed = await Self.isAllowed { try await refusal.attempt(admin) }
                #expect(!isAllowed, "\(refusal.name)")
            }
            for exchange in ["least.control", ""] {
                let mayPublish = try await admin.mayPublish(toExchange: exchange)
                #expect(!mayPublish, "\(exchange)")
            }
            for queue in ["journal", "watch.x", "lock.x", "dead", "results", "unrouted", "wait.5s.1"] {
                let mayConsume = try await admin.mayConsume(fromQueue: "least.\(queue)")
                #expect(!mayConsume, "\(queue)")
            }
        }
        // The right to read a stream does not include the right to remove its records.
        for queue in ["pauses", "commands"] {
            await #expect(throws: AMQPError.self) {
                try await BrokerClients.withAdmin(url("least:word")) { _ = try await $0.purge("least.\(queue)") }
            }
        }
        #expect(try await change("least", .everything, .pause(why: "test", seconds: nil)) == (1, [.everything]))
    }

    private static func isAllowed(_ act: () async throws -> Void) async -> Bool {
        do {
            try await act()
            return true
        } catch {
            #expect((error as? AMQPError)?.code == .accessRefused, "\(error)")
            return false
        }
    }

    private func expectPublishes(by user: String, to exchange: String, _ keys: [String: Bool]) async throws {
        for (key, isAllowed) in keys {
            let message = OutgoingMessage(exchange: exchange, routingKey: key, body: [1], messageID: key)
            let outcome = try await BrokerClients.publish([message], to: url("\(user):word"))
            switch outcome.first {
            case .confirmed?: #expect(isAllowed, "\(user): \(key)")
            case .unknown(let error)?, .notSent(let error)?:
                #expect(!isAllowed && error.code == .accessRefused, "\(user): \(key): \(error)")
            case let other: Issue.record("\(user): \(key): \(String(describing: other))")
            }
        }
    }

    /// Removes the rights of fleet control from the worker's user, then runs the doctor's remedy.
    private func expectDoctorFindsMissingRights() async throws {
        #expect(try await permissionLines().map(\.state) == [.ok])
        let former = WorkerPermissions(Topology(names: TopologyNames(prefix: "fleet")))
        try await broker.rabbitmqctl("set_permissions", "martlet-worker", "^$", former.write, former.read)
        let lacking = try await permissionLines()
        #expect(
            lacking.map(\.text) == [
                "martlet-worker may not publish to fleet.fleet", "martlet-worker may not consume from fleet.pauses",
                "martlet-worker may not consume from fleet.commands",
            ])
        #expect(try await permissionLines(hasFleetControl: false).map(\.state) == [.ok])
        try await shell([try #require(lacking.first).remedy])
        #expect(try await permissionLines().map(\.state) == [.ok])
    }
}
