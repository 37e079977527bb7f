import AMQP
import EventLoop
import TestKit
import Testing

/// Exclusive queues at a real RabbitMQ.
@Suite struct RabbitMQLockTests {
    @Test func aLockExcludesOtherConnectionsUntilItsHolderCloses() async throws {
        try await RabbitMQTests.play { bench in
            let arguments: FieldTable = ["x-max-length": 2000, "x-message-ttl": 30_000]
            let holder = bench.makeAdmin()
            let other = bench.makeAdmin()
            #expect(try await holder.acquireLock("amqp.lock", arguments: arguments))
            #expect(try await holder.acquireLock("amqp.lock", arguments: arguments))
            #expect(try await !other.acquireLock("amqp.lock", arguments: arguments))
            let refused = await #expect(throws: AMQPError.self) { try await other.status(ofQueue: "amqp.lock") }
            #expect(refused?.code == .resourceLocked)
            let differing = await #expect(throws: AMQPError.self) { try await holder.acquireLock("amqp.lock") }
            #expect(differing?.code == .preconditionFailed)
            try await holder.bindQueue("amqp.lock", toExchange: "amq.topic", routingKey: "amqp.lock")
            let publisher = bench.makePublisher()
            let message = OutgoingMessage(
                exchange: "amq.topic", routingKey: "amqp.lock", body: [1], messageID: "1")
            #expect(await publisher.publish(message) == .confirmed)
            #expect(try await holder.get(from: "amqp.lock")?.body == [1])
            await holder.close()
            try await poll(until: "the lock is free") { try await other.acquireLock("amqp.lock") }
            #expect(try await other.status(ofQueue: "amqp.lock").consumers == 0)

            // A queue that is not exclusive cannot be locked either.
            try await other.deleteQueue("amqp.lock")
            try await other.declareQueue("amqp.lock")
            #expect(try await !other.acquireLock("amqp.lock"))
            try await other.deleteQueue("amqp.lock")
            await publisher.close()
            await other.close()
        }
    }
}
