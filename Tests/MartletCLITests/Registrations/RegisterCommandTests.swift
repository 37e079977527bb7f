import AMQP
import JSON
import TestKit
import Testing

/// `martlet registrations register` and `unregister` at a real broker, without a worker.
@Suite(.timeLimit(.minutes(10))) struct RegisterCommandTests {
    @Test func `Without a reply, the command names the cause`() async throws {
        let broker = try await PrivateBroker.shared
        let prefix = "unanswered"
        try await BrokerClients.withAdmin(broker.url) { admin in
            try await admin.declareExchange("\(prefix).registrations", .topic)
            try await admin.declareQueue("\(prefix).registrations", arguments: ["x-queue-type": "quorum"])
            try await admin.bindQueue(
                "\(prefix).registrations", toExchange: "\(prefix).registrations", routingKey: "#")
        }
        let result = try await register(at: broker.url, prefix, "--timeout", "8")
        #expect(result.exit.status == .exited(4))
        #expect(
            result.errors == [
                "martlet: no reply yet: no worker consumes from \(prefix).registrations (1 waiting); to start a worker, "
                    + "run: martlet worker --config FILE",
                "martlet: no reply within 8 s; the command remains in \(prefix).registrations until a worker consumes it",
            ])
        let published = try #require(
            try await BrokerClients.withAdmin(broker.url) { try await $0.get(from: "\(prefix).registrations") })
        #expect(try JSONDocument(published.body).root["id"]?.string == published.properties.messageID)
        #expect(published.routingKey == "registration.com.example.app")
    }

    @Test func `Without the exchange or the right to write to it, the command names the remedy`() async throws {
        let broker = try await PrivateBroker.shared
        let missing = try await register(at: broker.url, "undeclared")
        #expect(missing.exit.status == .exited(1))
        #expect(
            missing.errors == [
                "martlet: cannot publish the command: exchange undeclared.registrations is missing; add the section "
                    + "registrations to the workers' configuration, then run: martlet topology apply --config FILE"
            ])
        try await BrokerClients.withAdmin(broker.url) { admin in
            try await admin.declareExchange("unbound.registrations", .topic)
        }
        let unbound = try await register(at: broker.url, "unbound")
        #expect(unbound.exit.status == .exited(1))
        #expect(unbound.errors.first?.contains("no queue is bound to exchange unbound.registrations") == true)
        try await broker.rabbitmqctl("add_user", "unentitled", "word")
        try await broker.rabbitmqctl("set_permissions", "unentitled", "^$", "^$", "^$")
        let refused = try await register(at: broker.url.replacing("guest:guest", with: "unentitled:word"), "unbound")
        #expect(refused.exit.status == .exited(1))
        #expect(
            refused.errors.first?.hasSuffix(
                "use an AMQP user that may write to exchange unbound.registrations, such as martlet-registrar; to print "
                    + "its permissions, run: martlet topology print --config FILE --format rabbitmqctl") == true,
            "\(refused.errors)")
    }

    @Test func `An invalid command reaches no broker`() async throws {
        let result = try await ChildProcess.run([
            Products.executable("martlet"), "registrations", "register", "--url", "amqp://127.0.0.1:1", "--user", "ann",
            "--app", "com.example.app", "--device-token", "xyz",
        ])
        #expect(result.exit.status == .exited(2))
        #expect(result.errors.count == 1)
        #expect(result.errors[0].hasPrefix("martlet: invalid command: The member device_token"))
    }

    private func register(
        at url: String, _ prefix: String, _ options: String...
    ) async throws -> (exit: ChildExit, output: [String], errors: [String]) {
        try await ChildProcess.runAtBroker(
            [
                Products.executable("martlet"), "registrations", "register", "--url", url, "--prefix", prefix, "--user",
                "ann", "--app", "com.example.app", "--device-token", "0a0b",
            ] + options)
    }
}
