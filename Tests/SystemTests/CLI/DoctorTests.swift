import AMQP
import JSON
import TestKit
import Testing

extension ToolTests {
    /// The commands `topology` and `doctor`, with a broker that runs the management plugin and with the simulator.
    @Suite struct OperatorCommands {
        private static func martlet(_ arguments: String...) async throws -> (
            code: Int32, output: [String], errors: [String]
        ) {
            let result = try await ChildProcess.run([Products.executable("martlet")] + arguments)
            guard case .exited(let code) = result.exit.status else {
                throw ProcessError("\(arguments): \(result.exit)")
            }
            return (code, result.output, result.errors)
        }

        @Test func topologyAndDoctorCommands() async throws {
            let broker = try await PrivateBroker(hasManagement: true)
            let directory = try TemporaryDirectory("doctor")
            let apns = try await SimulatorProcess(in: directory, options: ["--admin", "127.0.0.1:0"])
            func configure(
                _ name: String, url: String? = nil, queues: String = "", management: Bool = true
            ) throws -> String {
                var amqp = "{url: \"\(url ?? broker.url)\", prefix: doc\(queues)"
                if management { amqp += ", management_url: \"\(try #require(broker.managementURL))\"" }
                return try directory.write(
                    name,
                    """
                    amqp: \(amqp)}
                    apns:
                      keys: [{key_id: DEMOKEY001, team_id: DEMOTEAM01, key_file: AuthKey_DEMOKEY001.p8}]
                      endpoints: {production: {host: 127.0.0.1, port: \(apns.port), ca_file: ca.pem}}
                    apps: {com.example.app: {}}
                    """)
            }
            let config = try configure("one.yaml")
            let testClient = try TestBrokerClient(broker.url)
            try await testClient.declareAsBefore("doc.results")
            try await testClient.declareAsBefore("doc.dead")

            let before = try await Self.martlet("topology", "check", "--config", config)
            #expect(before.code == 1)
            let missing = "missing  queue doc.requests: run martlet topology apply --config \(config)"
            #expect(before.output.contains(missing))
            #expect(before.output.contains { $0.hasPrefix("differs  queue doc.results: x-max-length is not set") })

            // Apply two request queues, then one again. Only `--former` removes the binding of the second queue.
            let two = try configure("two.yaml", queues: ", request_queues: [{name: doc.requests}, {name: doc.bulk}]")
            let applied = try await Self.martlet("topology", "apply", "--config", two)
            #expect(applied.code == 0, "\(applied.errors)")
            #expect(applied.output.contains("created  doc.bulk to doc.requests by bulk"))
            #expect(
                applied.output.contains { $0.hasPrefix("kept     queue doc.results: the queue has other bounds (") })
            // The broker's statistics, which show the effect of a policy, are older than the policy.
            let straight = try await Self.martlet("doctor", "--config", two)
            #expect(
                straight.output.filter { $0.contains(" delivery limits ") }.map { $0.prefix(8) } == ["ok      "],
                "\(straight.output)")
            let back = try await Self.martlet("topology", "apply", "--config", config)
            #expect(back.code == 0, "\(back.errors)")
            #expect(back.output.contains("present  queue doc.requests"))
            #expect(back.output.contains("created  doc.requests to doc.requests by #"))
            #expect(
                back.output.contains {
                    $0.hasPrefix("kept     doc.bulk to doc.requests by bulk: ")
                        && $0.hasSuffix("--former 'doc.bulk=bulk'")
                })
            let gone = try await Self.martlet("topology", "apply", "--config", config, "--former", "doc.bulk=bulk")
            #expect(gone.output.filter { $0.hasPrefix("unbound") } == ["unbound  doc.bulk from doc.requests by bulk"])
            #expect(!gone.output.contains { $0.hasPrefix("kept     doc.bulk") })
            try await broker.rabbitmqctl(
                "set_policy", "--apply-to", "queues", "bounds", #"^doc\.results$"#,
                #"{"message-ttl":1000,"max-length":5}"#)
            // The management API shows the effect of a policy seconds later.
            try await poll(until: "no missing or mismatched objects") {
                try await Self.martlet("topology", "check", "--config", config).code == 0
            }
            let blind = try await Self.martlet("topology", "check", "--config", configure("b.yaml", management: false))
            #expect(blind.code == 0, "\(blind.output)")
            #expect(blind.output.contains { $0.hasPrefix("unseen   bindings, policies and bounds: ") })

            // The shell runs the printed rabbitmqctl commands without an error.
            let script = try await Self.martlet("topology", "print", "--config", config, "--format", "rabbitmqctl")
            let file = try directory.write("script", script.output.joined(separator: "\n") + "\n")
            let path = try await ChildProcess.run([
                "/bin/sh", "-c", "PATH=\(broker.directory):$PATH exec /bin/sh \(file)",
            ])
            #expect(path.exit.status == .exited(0), "\(path.output) \(path.errors)")

            let well = try await Self.martlet("doctor", "--config", config)
            #expect(well.code == 0, "\(well.output)")
            #expect(well.output.contains { $0.contains("refuses a nonexistent device (BadDeviceToken)") })
            #expect(well.output.contains { $0.hasPrefix("ok       permissions") })
            #expect(well.output.contains { $0.hasPrefix("ok       delivery limits") })
            #expect(well.output.contains { $0.hasPrefix("ok       clock") })

            // The commands report each problem.
            try await broker.rabbitmqctl(
                "set_policy", "--apply-to", "queues", "--priority", "2", "limit", #"^doc\.dead$"#,
                #"{"delivery-limit":5}"#)
            try await poll(until: "the doctor reports the policy of the dead-letter queue") {
                try await Self.martlet("doctor", "--config", config).output.contains { $0.contains("(policy limit)") }
            }
            let limited = try await Self.martlet("topology", "check", "--config", config)
            #expect(limited.code == 1)
            #expect(limited.output.contains { $0.hasPrefix("differs  delivery limit of queue doc.dead: ") })
            let url = try await broker.addUser("worker", password: "hunter2")
            try await broker.rabbitmqctl("set_permissions", "worker", "^$", #"^doc\.results$"#, #"^doc\.requests$"#)
            try await apns.request("PUT", "/v1/teams/DEMOTEAM01/keys/DEMOKEY001", #"{"revoked":true}"#)
            let ofWorker = try configure("worker.yaml", url: url)
            let ill = try await Self.martlet("doctor", "--config", ofWorker, "--json")
            #expect(ill.code == 1)
            let lines = try ill.output.map { try JSONDocument($0) }
            func texts(_ check: String, _ state: String) -> [String] {
                lines.filter { $0.root["check"]?.string == check && $0.root["state"]?.string == state }
                    .compactMap { $0.root["text"]?.string }
            }
            #expect(texts("permissions", "failure").contains("worker may not publish to doc.dead"))
            #expect(texts("permissions", "failure").contains("worker may not consume from doc.quarantine"))
            #expect(
                !texts("permissions", "failure").contains { $0.contains("doc.results") || $0.contains("doc.requests") })
            #expect(texts("delivery limits", "warning").count == 1)
            #expect(
                texts("apns", "failure").contains { $0.contains("key DEMOKEY001 refused (InvalidProviderToken)") })
            #expect(!ill.output.joined().contains("hunter2"))

            // Publish requests without a worker, and fill a queue that then refuses results.
            try await testClient.bind("doc.own", to: "doc.results", "result.#")
            try await broker.rabbitmqctl(
                "set_policy", "--apply-to", "queues", "full", #"^doc\.own$"#,
                #"{"max-length":1,"overflow":"reject-publish"}"#)
            try await testClient.publish(Sample.make(3).map { $0.message(to: "doc") })
            try await testClient.publish([
                OutgoingMessage(exchange: "doc.results", routingKey: "result.accepted.x", body: [], messageID: "r")
            ])
            let waiting = "3 requests wait and no worker consumes"
            let refused = "doc.own: full (1 ready, max-length 1, policy full) and refuses more messages: results cannot"
            try await poll(until: "the check reports the full queue") {
                let check = try await Self.martlet("topology", "check", "--config", config)
                #expect(check.code == 1)
                #expect(check.output.contains { $0.hasPrefix("differs  queue doc.requests: \(waiting)") })
                return check.output.contains { $0.hasPrefix("differs  queue \(refused)") }
            }
            let full = try await Self.martlet("doctor", "--config", config)
            #expect(full.code == 1)
            #expect(full.output.contains { $0.hasPrefix("failure  queues") && $0.contains("doc.requests: \(waiting)") })
            #expect(full.output.contains { $0.hasPrefix("failure  queues") && $0.contains(refused) }, "\(full.output)")

            // APNs is checked even if the broker is unreachable.
            let away = try configure(
                "away.yaml", url: "amqp://guest:hunter2@127.0.0.1:\(try FreePort.choose())", management: false)
            let alone = try await Self.martlet("doctor", "--config", away)
            #expect(alone.code == 1)
            #expect(alone.output.contains { $0.hasPrefix("failure  broker") && $0.contains("Connection refused") })
            #expect(alone.output.contains { $0.hasPrefix("unseen   topology") })
            #expect(alone.output.contains { $0.hasPrefix("failure  apns") })
            #expect(!alone.output.joined().contains("hunter2"))
            await testClient.close()
            #expect(try await apns.process.terminate().status == .exited(0))
            try await broker.end()
        }
    }
}

extension TestBrokerClient {
    /// Declares a queue with the arguments of earlier versions.
    fileprivate func declareAsBefore(_ queue: String) async throws {
        try await brokerAdmin.declareQueue(queue, arguments: ["x-queue-type": "quorum"])
    }
}
