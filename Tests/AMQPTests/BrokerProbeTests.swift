import AMQP
import EventLoop
import TestKit
import Testing

/// Operations that test whether a broker has a plugin or grants a permission, without changing anything. A refusal is
/// an answer, not an error.
@Suite struct BrokerProbeTests {
    private typealias Peer = HostilePeerTests

    /// Passes to `script` an administrator whose first operation gets `answer` from the broker.
    private static func play(
        _ answer: [UInt8], _ script: @escaping @Sendable (isolated AMQPHarness, BrokerAdmin) async throws -> Void
    ) {
        AMQPHarness.play { harness in
            let listener = try harness.loop.listen(on: Endpoint(host: "broker", port: 5672)) {
                $0.handler = Peer.Player(Peer.session[..<4].flatMap { $0 }, later: [answer])
            }
            let admin = harness.makeAdmin()
            try await script(harness, admin)
            listener.close()
            await admin.close(deadlineSeconds: 1)
        }
    }

    /// Returns `channel.close` or `connection.close`.
    private static func close(_ code: UInt16, _ text: String, connection: Bool = false) -> [UInt8] {
        Peer.method(connection ? 0 : 1, connection ? 10 : 20, connection ? 50 : 40) { writer in
            writer.short(code)
            writer.shortString(text)
            writer.raw([0, 0, 0, 0])
        }
    }

    private static let exchangeDeclareOK = Peer.method(1, 40, 11)
    private static let exchangeUnbindOK = Peer.method(1, 40, 51)
    private static let missingExchange = close(404, "NOT_FOUND - no exchange 'results' in vhost '/'")

    // With the plugin, the broker knows the exchange type, and usually refuses the arguments. Without the plugin, the
    // broker does not know the exchange type.
    @Test(arguments: [
        (close(406, "PRECONDITION_FAILED - hash-header and hash-property are mutually exclusive"), true),
        (close(403, "ACCESS_REFUSED - access to exchange 'hashed' in vhost '/' refused for user 'worker'"), true),
        (exchangeDeclareOK, true),
        (close(503, "COMMAND_INVALID - unknown exchange type 'x-consistent-hash'", connection: true), false),
    ])
    func theAnswerShowsWhetherTheBrokerHashesConsistently(answer: [UInt8], hashes: Bool) {
        Self.play(answer) { _, admin in
            let found = try await admin.hashesConsistently("hashed")
            #expect(found == hashes)
        }
    }

    @Test func anotherFailureDoesNotShowWhetherTheBrokerHashesConsistently() {
        Self.play(Self.close(541, "INTERNAL_ERROR", connection: true)) { _, admin in
            let error = await #expect(throws: AMQPError.self) { try await admin.hashesConsistently("hashed") }
            #expect(error?.replyCode == 541)
        }
    }

    // RabbitMQ first checks the permission for the destination exchange, then the permission for the source exchange.
    @Test(arguments: [("results", false), ("amq.direct", true), (nil, true)] as [(String?, Bool)])
    func theRefusedExchangeShowsThePermissionToPublish(refused: String?, mayPublish: Bool) {
        let refusal = Self.close(403, "ACCESS_REFUSED - access to exchange '\(refused ?? "")' in vhost '/' refused")
        Self.play(refused == nil ? Self.exchangeUnbindOK : refusal) { _, admin in
            let found = try await admin.mayPublish(toExchange: "results")
            #expect(found == mayPublish)
        }
    }

    @Test func aMissingExchangeDoesNotShowThePermissionToPublish() {
        Self.play(Self.missingExchange) { _, admin in
            let error = await #expect(throws: AMQPError.self) { try await admin.mayPublish(toExchange: "results") }
            #expect(error?.code == .notFound)
        }
    }

    @Test(arguments: [
        (close(406, "PRECONDITION_FAILED - invalid arg 'x-priority' for queue 'in' in vhost '/'"), true),
        (close(403, "ACCESS_REFUSED - access to queue 'in' in vhost '/' refused for user 'worker'"), false),
    ])
    func theRefusalShowsThePermissionToConsume(answer: [UInt8], mayConsume: Bool) {
        Self.play(answer) { _, admin in
            let found = try await admin.mayConsume(fromQueue: "in")
            #expect(found == mayConsume)
        }
    }

    @Test func aMissingQueueDoesNotShowThePermissionToConsume() {
        AMQPHarness.play { harness in
            try harness.broker.start()
            let admin = harness.makeAdmin()
            let error = await #expect(throws: AMQPError.self) { try await admin.mayConsume(fromQueue: "missing") }
            #expect(error?.code == .notFound)
            await admin.close()
        }
    }

    // The scripted broker ignores the priority.
    @Test func aConsumerThatTheBrokerAcceptsEndsWithoutALossOfMessages() {
        AMQPHarness.play { harness in
            try harness.broker.start()
            harness.broker.declareQueue("in")
            let admin = harness.makeAdmin()
            #expect(try await admin.mayConsume(fromQueue: "in"))
            await harness.wait("end of the consumer", limit: .seconds(5)) {
                harness.broker.queue("in")?.consumerCount == 0
            }
            harness.fill(["a"])
            #expect(try await admin.status(ofQueue: "in").messages == 1)
            #expect(harness.broker.logins == 1)
            await admin.close()
        }
    }
}
