import AMQP
import TestKit
import Testing

/// Reply texts of a real RabbitMQ.
@Suite struct RabbitMQReplyTests {
    @Test func repliesOfRabbitMQHaveDetails() async throws {
        let broker = try await PrivateBroker.shared
        try await broker.rabbitmqctl("add_user", "reader", "word")
        try await broker.rabbitmqctl("set_permissions", "reader", "^$", "^$", "^replies$")
        try await RabbitMQTests.play { bench in
            let admin = bench.makeAdmin()
            func detail(_ refused: () async throws -> Void) async -> AMQPError.Detail? {
                do {
                    try await refused()
                } catch {
                    return (error as? AMQPError)?.detail
                }
                Issue.record("the operation was not refused")
                return nil
            }
            try await admin.declareQueue("replies", arguments: ["x-queue-type": "classic"])
            #expect(await detail { _ = try await admin.status(ofQueue: "none") } == .missingQueue("none"))
            #expect(
                await detail { try await admin.bindQueue("replies", toExchange: "none", routingKey: "") }
                    == .missingExchange("none"))
            #expect(
                await detail { try await admin.declareQueue("replies", arguments: ["x-max-length": 1]) }
                    == .inequivalentArgument("x-max-length"))
            #expect(
                await detail { try await admin.declareQueue("other", arguments: ["x-max-length": -1]) }
                    == .invalidArgument("x-max-length"))
            #expect(
                await detail { try await admin.declareExchange("other", .consistentHash) } == .unknownExchangeType)
            bench.connection.credentials = AMQPCredentials(user: "reader", password: "word")
            let reader = bench.makeAdmin()
            #expect(await detail { try await reader.purge("other") } == .refusedResource("other"))
            #expect(
                await detail { try await reader.declareExchange("other", .topic) } == .refusedResource("other"))
            #expect(
                await detail { try await reader.bindQueue("replies", toExchange: "amq.topic", routingKey: "") }
                    == .refusedResource("replies"))
            await reader.close()
            try await admin.deleteQueue("replies")
            await admin.close()
        }
    }
}
