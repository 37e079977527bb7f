import AMQP
import BrokerTopology
import Crypto
import TestKit
import Testing

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
        _ prefix: String, user: String = "guest:guest", hasFleetControl: Bool = true
    ) throws -> String {
        let management = try #require(broker.managementURL)
        return try folder.write(
            "martlet.yaml",
            """
            amqp: {url: "\(url(user))", prefix: \(prefix), management_url: "\(management)"}
            apns: {keys: [{key_id: ABC123DEFG, team_id: DEF123GHIJ, key_file: AuthKey.p8}]}
            apps: {com.example.app: {}}
            \(hasFleetControl ? "fleet: {}" : "")
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
        let script = try await martlet("topology", "print", "--config", config, "--format", "rabbitmqctl")
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

    private static func isAllowed(_ act: () async throws(AMQPError) -> Void) async -> Bool {
        do throws(AMQPError) {
            try await act()
            return true
        } catch {
            #expect(error.code == .accessRefused, "\(error)")
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
