import AMQP
import EventLoop
import TestKit
import Testing

@Suite struct BrokerAdminTests {
    @Test func topologyIsMadeSeenAndRemoved() {
        Scene.play { scene in
            try scene.broker.start()
            let admin = scene.makeAdmin()
            try await admin.declareExchange("x", .topic)
            #expect(try await admin.declareQueue("q", arguments: ["x-queue-type": "quorum"]).messages == 0)
            try await admin.bindQueue("q", toExchange: "x", routingKey: "a.*")
            scene.broker.publish(exchange: "x", routingKey: "a.b", messageID: "1", body: [1])
            scene.broker.publish(exchange: "x", routingKey: "a.b.c", messageID: "2", body: [2])
            let status = try await admin.status(ofQueue: "q")
            #expect(status == QueueStatus(name: "q", messages: 1, consumers: 0))
            let message = try #require(try await admin.get(from: "q"))
            #expect(message.body == [1])
            #expect(message.queue == "q")
            #expect(message.routingKey == "a.b")
            #expect(message.properties.messageID == "1")
            #expect(try await admin.get(from: "q") == nil)
            scene.broker.publish(routingKey: "q", body: [3])
            #expect(try await admin.purge("q") == 1)
            scene.broker.publish(routingKey: "q", body: [4])
            #expect(try await admin.deleteQueue("q") == 1)
            #expect(scene.broker.logins == 1)
            await admin.close()
        }
    }

    @Test func whatWasHeldBeforeIsSaidToBeRedelivered() {
        Scene.play { scene in
            try scene.broker.start()
            scene.broker.declareQueue("in")
            scene.fill(["a"])
            let consumer = scene.makeConsumer()
            await scene.wait("delivery") { scene.deliveries.count == 1 }
            await consumer.close()
            scene.fill(["b"])
            let admin = scene.makeAdmin()
            #expect(try await admin.get(from: "in")?.isRedelivered == true)
            #expect(try await admin.get(from: "in")?.isRedelivered == false)
            await admin.close()
        }
    }

    @Test func aRefusedOperationThrowsAndTheNextWorks() {
        Scene.play { scene in
            try scene.broker.start()
            let admin = scene.makeAdmin()
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
            #expect(scene.loop.network.connections.count == 1)
            await admin.close()
        }
    }

    /// Their frame has 28 bytes besides.
    @Test func argumentsMayFillAFrameToItsLastByte() {
        Scene.play { scene in
            let most = 8192
            scene.broker.behaviour.frameBytesMax = UInt32(most)
            try scene.broker.start()
            let admin = scene.makeAdmin()
            func arguments(_ bytes: Int) -> FieldTable { ["x": .string(String(repeating: "x", count: bytes - 28))] }
            try await admin.declareQueue("q", arguments: arguments(most))
            let error = await #expect(throws: AMQPError.self) {
                try await admin.declareQueue("r", arguments: arguments(most + 1))
            }
            #expect(error?.code == .preconditionFailed)
            #expect(scene.broker.queues.map(\.name) == ["q"])
            #expect(scene.broker.logins == 1)
            await admin.close()
        }
    }

    @Test func whatIsAskedDuringTheCloseIsRefusedAtOnce() {
        Scene.play { scene in
            try scene.broker.start()
            let admin = scene.makeAdmin()
            try await admin.declareQueue("q")
            scene.broker.setSilent(true)
            scene.closeWithoutWaiting(admin)
            await scene.pass(.seconds(1))
            let start = scene.loop.now.monotonic
            let error = await #expect(throws: AMQPError.self) { try await admin.status(ofQueue: "q") }
            #expect(error?.code == .connectionLost)
            #expect(scene.loop.now.monotonic == start)
        }
    }

    @Test func operationsWaitForTheBrokerButNotForEver() {
        Scene.play { scene in
            let admin = scene.makeAdmin()
            let start = scene.loop.now.monotonic
            let error = await #expect(throws: AMQPError.self) { try await admin.declareQueue("q") }
            #expect(error?.code == .cannotConnect)
            #expect(start.duration(to: scene.loop.now.monotonic) >= .seconds(15))
            try scene.broker.start()
            try await admin.declareQueue("q")
            await admin.close()
            let closed = await #expect(throws: AMQPError.self) { try await admin.declareQueue("q") }
            #expect(closed?.code == .closed)
        }
    }

    @Test func anAnswerIsNotWaitedForForEver() {
        Scene.play { scene in
            try scene.broker.start()
            let admin = scene.makeAdmin()
            try await admin.declareQueue("q")
            scene.broker.setSilent(true)
            let start = scene.loop.now.monotonic
            let error = await #expect(throws: AMQPError.self) { try await admin.status(ofQueue: "q") }
            #expect(error?.code == .timedOut)
            #expect(start.duration(to: scene.loop.now.monotonic) < .seconds(16))
            await admin.close()
        }
    }

    @Test func aFetchThatIsCutShortHarmsNoneAfterIt() {
        Scene.play { scene in
            scene.connection.frameBytesMax = 4096
            try scene.broker.start()
            let admin = scene.makeAdmin()
            try await admin.declareQueue("q")
            for _ in 0..<2 { scene.broker.publish(routingKey: "q", body: .init(repeating: 1, count: 50_000)) }
            scene.loop.network.connections[0].cut(after: 20_000, .toClient)
            let error = await #expect(throws: AMQPError.self) { try await admin.get(from: "q") }
            #expect(error?.code == .connectionLost)
            #expect(try await admin.get(from: "q")?.body.count == 50_000)
            await admin.close()
        }
    }

    @Test func whatIsUnderWayFailsWithTheConnection() {
        Scene.play { scene in
            try scene.broker.start()
            let admin = scene.makeAdmin()
            try await admin.declareQueue("q")
            scene.broker.setSilent(true)
            scene.loop.schedule(after: .seconds(1)) { scene.loop.network.connections[0].cut() }
            let error = await #expect(throws: AMQPError.self) { try await admin.status(ofQueue: "q") }
            #expect(error?.code == .connectionLost)
            await admin.close()
        }
    }
}
