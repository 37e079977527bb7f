import AMQP
import EventLoop
import TestKit
import Testing

@Suite struct ExclusiveQueueTests {
    @Test func aLockExcludesOtherConnectionsUntilItsHolderCloses() {
        AMQPHarness.play { harness in
            try harness.broker.start()
            let holder = harness.makeAdmin()
            let other = harness.makeAdmin()
            #expect(try await holder.acquireLock("lock"))
            #expect(try await !other.acquireLock("lock"))
            #expect(try await other.acquireLock("lock.other"))
            #expect(try await holder.acquireLock("lock"), "the holder lost its lock")
            let refused = await #expect(throws: AMQPError.self) { try await other.status(ofQueue: "lock") }
            #expect(refused?.code == .resourceLocked)
            await holder.close()
            #expect(try await other.acquireLock("lock"))
            try await other.deleteQueue("lock")
            #expect(harness.broker.queue("lock") == nil)
            await other.close()
        }
    }

    @Test func aBrokenConnectionFreesItsLocks() {
        AMQPHarness.play { harness in
            try harness.broker.start()
            let holder = harness.makeAdmin()
            #expect(try await holder.acquireLock("lock"))
            harness.loop.network.connections[0].cut()
            let other = harness.makeAdmin()
            #expect(try await other.acquireLock("lock"))
            #expect(try await !holder.acquireLock("lock"))
            await holder.close()
            await other.close()
        }
    }

    @Test func otherRefusalsOfALockAreErrors() {
        AMQPHarness.play { harness in
            try harness.broker.start()
            let admin = harness.makeAdmin()
            #expect(try await admin.acquireLock("lock", arguments: ["x-max-length": 1]))
            let differing = await #expect(throws: AMQPError.self) { try await admin.acquireLock("lock") }
            #expect(differing?.detail == .inequivalentArgument("x-max-length"))
            let long = String(repeating: "x", count: 256)
            let unsendable = await #expect(throws: AMQPError.self) { try await admin.acquireLock(long) }
            #expect(unsendable?.code == .preconditionFailed)
            await admin.close()
        }
    }

    @Test func anExclusiveQueueReceivesMessagesOfItsBindings() {
        AMQPHarness.play { harness in
            try harness.broker.start()
            harness.broker.declareExchange("fleet", .topic)
            let admin = harness.makeAdmin()
            try await admin.declareExclusiveQueue("watch", arguments: ["x-max-length": 2000, "x-message-ttl": 30_000])
            try await admin.bindQueue("watch", toExchange: "fleet", routingKey: "status.#")
            harness.broker.publish(exchange: "fleet", routingKey: "status.w1", body: [1])
            harness.broker.publish(exchange: "fleet", routingKey: "journal.w1", body: [2])
            let consumer = harness.makeConsumer("watch", on: admin.connection)
            await harness.wait("delivery") { harness.deliveries.count == 1 }
            #expect(harness.deliveries[0].body == [1])
            consumer.acknowledge(harness.deliveries[0].tag)
            let other = harness.makeConsumer("watch", on: harness.makeConnection())
            await harness.wait("refusal") { if case .waiting = other.status { true } else { false } }
            guard case .waiting(let error, _) = other.status else { return fail("the consumer is not waiting") }
            #expect(error.code == .resourceLocked)
            await admin.close()
            #expect(harness.broker.queue("watch") == nil)
        }
    }
}
