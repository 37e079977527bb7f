import AMQP
import Delivery
import EventLoop
import TestKit
import Testing

/// The command `martlet topology` against scripted brokers of several versions.
@Suite(.timeLimit(.minutes(10))) struct TopologyCommandTests {
    /// Runs `martlet topology apply` against a scripted broker that reports this RabbitMQ version.
    ///
    /// - Parameter queues: existing queues, declared as by earlier versions of Martlet.
    private func apply(
        at version: String, where queues: [String] = [], _ options: String...
    ) async throws -> (exit: ChildExit, output: [String], errors: [String]) {
        try await onEpollLoop { loop in
            var behavior = ScriptedBrokerBehavior()
            behavior.product = ("RabbitMQ", version)
            let broker = ScriptedBroker(
                loop: loop, endpoint: Endpoint(host: "127.0.0.1", port: 0), behavior: behavior)
            try broker.start()
            for queue in queues { broker.declareQueue(queue, arguments: ["x-queue-type": "quorum"]) }
            let result = try await ChildProcess.runAtBroker(
                [
                    Products.executable("martlet"), "topology", "apply", "--url",
                    "amqp://guest:guest@\(broker.endpoint)",
                ] + options)
            broker.shutDown()
            return result
        }
    }

    @Test(arguments: ["3.13.7", "4.0.5", "4.3.0"]) func newQueuesNeedNoPolicy(version: String) async throws {
        let applied = try await apply(at: version)
        #expect(applied.exit.status == .exited(0) && applied.errors == [])
        #expect(applied.output.contains("created  queue push.dead"))
        #expect(!applied.output.contains { $0.contains("policy") })
    }

    @Test func aPolicyThatOnlyAnOperatorCanSetIsAnError() async throws {
        let four = try await apply(at: "4.1.2", where: ["push.dead"])
        #expect(four.exit.status == .exited(1))
        #expect(four.output.contains("present  queue push.dead"))
        #expect(four.output.contains("created  queue push.requests"))
        let error = try #require(four.errors.last)
        #expect(error.hasPrefix("martlet: failed   policy push-deliveries: cannot set the policy"), "\(error)")
        #expect(
            error.hasSuffix(
                "RabbitMQ 4.1 removes messages from push.dead after 20 requeues. Run: rabbitmqctl set_policy -p '/' "
                    + "--apply-to queues --priority 1 'push-deliveries' "
                    + #"'^(push\.requests|push\.quarantine|push\.expired|push\.dead)$' '{"delivery-limit":-1}'"#
                    + "; then run: martlet topology apply --url URL --without-policies"), "\(error)")
        let others = try await apply(at: "4.1.2", where: ["push.dead"], "--without-policies")
        #expect(others.exit.status == .exited(0) && others.errors == [])
        let three = try await apply(at: "3.13.7", where: ["push.dead"])
        #expect(three.exit.status == .exited(0) && three.errors == [])
    }

    // The former binding is the only route of dead letters until the new route is complete.
    @Test func theFormerDeadLetterBindingStaysWhileAStepFails() async throws {
        let applied = try await apply(at: "3.13.7", where: ["push.dead", "push.expired"])
        #expect(applied.exit.status == .exited(1))
        #expect(applied.output.contains { $0.hasPrefix("kept     push.dead to push.dlx: an earlier step failed") })
        let whole = try await apply(at: "3.13.7", where: ["push.dead"])
        #expect(whole.exit.status == .exited(0) && whole.output.contains("unbound  push.dead from push.dlx"))
    }

    /// Printing needs no password, certificates or keys, because the command runs where queues are managed.
    @Test func printingNeedsNoPassword() async throws {
        let directory = try TemporaryDirectory()
        let config = try directory.write(
            "martlet.yaml",
            """
            amqp:
              url: amqps://broker/shop
              username: file:user
              password: file:password
              tls: {ca_file: ca.pem}
              prefix: shop
            apns: {keys: [{key_id: ABC123DEFG, team_id: DEF123GHIJ, key_file: key.p8}]}
            apps: {com.example.app: {}}
            """)
        func print(_ format: String) async throws -> (exit: ChildExit, output: [String], errors: [String]) {
            try await ChildProcess.run([
                Products.executable("martlet"), "topology", "print", "--config", config, "--broker", "4.1", "--format",
                format,
            ])
        }
        for format in ["table", "definitions"] {
            let printed = try await print(format)
            #expect(printed.exit.status == .exited(0) && printed.errors == [], "\(format): \(printed.errors)")
            #expect(printed.output.contains { $0.contains("shop.requests") })
        }
        for format in ["rabbitmqctl", "kubernetes"] {
            let printed = try await print(format)
            #expect(printed.exit.status == .exited(0), "\(format)")
            #expect(
                printed.errors == ["martlet: amqp.username is not available on this machine, using martlet instead"])
        }
        try directory.write("user", "shop-worker\n")
        let script = try await print("rabbitmqctl")
        #expect(script.errors == [])
        #expect(script.output.contains { $0.hasPrefix("# rabbitmqctl set_permissions -p 'shop' 'shop-worker' ") })
    }
}
