import AMQP
import EventLoop
import TestKit
import Testing

@Suite struct BrokerAdminTests {
    @Test func topologyIsDeclaredInspectedAndRemoved() {
        AMQPHarness.play { harness in
            try harness.broker.start()
            let admin = harness.makeAdmin()
            try await admin.declareExchange("x", .topic)
            #expect(try await admin.declareQueue("q", arguments: ["x-queue-type": "quorum"]).messages == 0)
            try await admin.bindQueue("q", toExchange: "x", routingKey: "a.*")
            harness.broker.publish(exchange: "x", routingKey: "a.b", messageID: "1", body: [1])
            harness.broker.publish(exchange: "x", routingKey: "a.b.c", messageID: "2", body: [2])
            let status = try await admin.status(ofQueue: "q")
            #expect(status == QueueStatus(name: "q", messages: 1, consumers: 0))
            let message = try #require(try await admin.get(from: "q"))
            #expect(message.body == [1])
            #expect(message.queue == "q")
            #expect(message.routingKey == "a.b")
            #expect(message.properties.messageID == "1")
            #expect(try await admin.get(from: "q") == nil)
            harness.broker.publish(routingKey: "q", body: [3])
            #expect(try await admin.purge("q") == 1)
            harness.broker.publish(routingKey: "q", body: [4])
            #expect(try await admin.deleteQueue("q") == 1)
            #expect(harness.broker.logins == 1)
            await admin.close()
        }
    }

    @Test func existingObjectsAreFound() {
        AMQPHarness.play { harness in
            try harness.broker.start()
            let admin = harness.makeAdmin()
            for exists in [false, true] {
                #expect(try await admin.queueExists("q") == exists)
                #expect(try await admin.exchangeExists("x") == exists)
                guard !exists else { break }
                try await admin.declareQueue("q")
                try await admin.declareExchange("x", .topic)
            }
            #expect(harness.broker.queues.map(\.name) == ["q"])
            await admin.close()
        }
    }

    @Test func requeuedMessagesAreMarkedAsRedelivered() {
        AMQPHarness.play { harness in
            try harness.broker.start()
            harness.broker.declareQueue("in")
            harness.fill(["a"])
            let consumer = harness.makeConsumer()
            await harness.wait("delivery") { harness.deliveries.count == 1 }
            await consumer.close()
            harness.fill(["b"])
            let admin = harness.makeAdmin()
            #expect(try await admin.get(from: "in")?.isRedelivered == true)
            #expect(try await admin.get(from: "in")?.isRedelivered == false)
            await admin.close()
        }
    }

    @Test func aRefusedOperationThrowsAndTheNextWorks() {
        AMQPHarness.play { harness in
            try harness.broker.start()
            let admin = harness.makeAdmin()
            let missing = await #expect(throws: AMQPError.self) { try await admin.status(ofQueue: "missing") }
            #expect(missing?.code == .notFound)
            try await admin.declareQueue("q", arguments: ["x-message-ttl": 1000])
            let other = await #expect(throws: AMQPError.self) { try await admin.declareQueue("q") }
            #expect(other?.code == .preconditionFailed)
            let long = String(repeating: "x", count: 256)
            await #expect(throws: AMQPError.self) { try await admin.declareQueue(long) }
            await #expect(throws: AMQPError.self) { try await admin.declareQueue("r", arguments: [long: 1]) }
            await #expect(throws: AMQPError.self) {
                try await admin.declareQueue("r", arguments: ["x": .string(String(repeating: "x", count: 131_072))])
            }
            #expect(try await admin.status(ofQueue: "q").messages == 0)
            #expect(harness.loop.network.connections.count == 1)
            await admin.close()
        }
    }

    // Everything in the frame except the argument's text takes 28 bytes.
    @Test func argumentsMayFillAFrameCompletely() {
        AMQPHarness.play { harness in
            let most = 8192
            harness.broker.behavior.frameBytesMax = UInt32(most)
            try harness.broker.start()
            let admin = harness.makeAdmin()
            func arguments(_ bytes: Int) -> FieldTable { ["x": .string(String(repeating: "x", count: bytes - 28))] }
            try await admin.declareQueue("q", arguments: arguments(most))
            let error = await #expect(throws: AMQPError.self) {
                try await admin.declareQueue("r", arguments: arguments(most + 1))
            }
            #expect(error?.code == .preconditionFailed)
            #expect(harness.broker.queues.map(\.name) == ["q"])
            #expect(harness.broker.logins == 1)
            await admin.close()
        }
    }

    @Test func operationsDuringTheCloseAreRefusedImmediately() {
        AMQPHarness.play { harness in
            try harness.broker.start()
            let admin = harness.makeAdmin()
            try await admin.declareQueue("q")
            harness.broker.setSilent(true)
            harness.closeWithoutWaiting(admin)
            await harness.pass(.seconds(1))
            let start = harness.loop.now.monotonic
            let error = await #expect(throws: AMQPError.self) { try await admin.status(ofQueue: "q") }
            #expect(error?.code == .connectionLost)
            #expect(harness.loop.now.monotonic == start)
        }
    }

    @Test func operationsWaitForTheConnectionForALimitedTime() {
        AMQPHarness.play { harness in
            let admin = harness.makeAdmin()
            let start = harness.loop.now.monotonic
            let error = await #expect(throws: AMQPError.self) { try await admin.declareQueue("q") }
            #expect(error?.code == .cannotConnect)
            #expect(start.duration(to: harness.loop.now.monotonic) >= .seconds(15))
            try harness.broker.start()
            try await admin.declareQueue("q")
            await admin.close()
            let closed = await #expect(throws: AMQPError.self) { try await admin.declareQueue("q") }
            #expect(closed?.code == .closed)
        }
    }

    @Test func operationsWaitForTheAnswerForALimitedTime() {
        AMQPHarness.play { harness in
            try harness.broker.start()
            let admin = harness.makeAdmin()
            try await admin.declareQueue("q")
            harness.broker.setSilent(true)
            let start = harness.loop.now.monotonic
            let error = await #expect(throws: AMQPError.self) { try await admin.status(ofQueue: "q") }
            #expect(error?.code == .timedOut)
            #expect(start.duration(to: harness.loop.now.monotonic) < .seconds(16))
            await admin.close()
        }
    }

    @Test func anInterruptedFetchDoesNotAffectLaterOnes() {
        AMQPHarness.play { harness in
            harness.connection.frameBytesMax = 4096
            try harness.broker.start()
            let admin = harness.makeAdmin()
            try await admin.declareQueue("q")
            for _ in 0..<2 { harness.broker.publish(routingKey: "q", body: .init(repeating: 1, count: 50_000)) }
            harness.loop.network.connections[0].cut(after: 20_000, .toClient)
            let error = await #expect(throws: AMQPError.self) { try await admin.get(from: "q") }
            #expect(error?.code == .connectionLost)
            #expect(try await admin.get(from: "q")?.body.count == 50_000)
            await admin.close()
        }
    }

    @Test func operationsInFlightFailWithTheConnection() {
        AMQPHarness.play { harness in
            try harness.broker.start()
            let admin = harness.makeAdmin()
            try await admin.declareQueue("q")
            harness.broker.setSilent(true)
            harness.loop.schedule(after: .seconds(1)) { harness.loop.network.connections[0].cut() }
            let error = await #expect(throws: AMQPError.self) { try await admin.status(ofQueue: "q") }
            #expect(error?.code == .connectionLost)
            await admin.close()
        }
    }
}
