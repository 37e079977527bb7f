import AMQP
import EventLoop
import TestKit
import Testing

/// Bodies that are too large, and more bytes in flight than are allowed.
@Suite struct ConsumerBytesTests {
    @Test func bodiesAboveTheLimitAreToldWithoutBeingKept() {
        Scene.play { scene in
            try scene.broker.start()
            scene.broker.declareQueue("dead")
            scene.broker.declareQueue(
                "in", arguments: ["x-dead-letter-exchange": "", "x-dead-letter-routing-key": "dead"])
            let limit = 300_000
            let exact = [UInt8](repeating: 1, count: limit)
            let above = [UInt8](repeating: 2, count: limit + 1)
            scene.broker.publish(routingKey: "in", messageID: "exact", body: exact)
            scene.broker.publish(routingKey: "in", messageID: "above", body: above)
            scene.broker.publish(routingKey: "in", messageID: "empty", body: [])
            let consumer = scene.makeConsumer { $0.messageBytesMax = limit }
            await scene.wait("deliveries") { scene.deliveries.count == 3 }
            #expect(scene.deliveries.map(\.isOversized) == [false, true, false])
            #expect(scene.deliveries.map(\.bodySize) == [UInt64(limit), UInt64(limit + 1), 0])
            #expect(scene.deliveries[0].body == exact)
            #expect(scene.deliveries[1].body.isEmpty)
            #expect(scene.deliveries[1].properties.messageID == "above")
            #expect(consumer.bodyBytesInFlight > limit && consumer.bodyBytesInFlight < limit + 200)
            consumer.reject(scene.deliveries[1].tag, requeue: false)
            await scene.wait("dead letter") { scene.broker.queue("dead")?.ready.count == 1 }
            #expect(scene.broker.queue("dead")?.ready.first?.body == above)
            await consumer.close()
        }
    }

    @Test func tooManyBytesInFlightHoldUpTheBroker() {
        Scene.play { scene in
            try scene.broker.start()
            scene.broker.declareQueue("in")
            for number in 0..<100 {
                scene.broker.publish(routingKey: "in", messageID: "\(number)", body: .init(repeating: 7, count: 10_000))
            }
            let consumer = scene.makeConsumer(prefetch: 100) { $0.bodyBytesInFlightMax = 50_000 }
            await scene.pass(.seconds(120))
            let held = scene.deliveries.count
            #expect(held >= 5 && held < 20, "\(held)")
            #expect(consumer.status == .ready, "a connection that is not read does not count as silent")
            var settled = 0
            while settled < 100 {
                await scene.wait("delivery") { scene.deliveries.count > settled }
                #expect(consumer.bodyBytesInFlight <= 50_000 + 128 * 1024)
                consumer.acknowledge(scene.deliveries[settled].tag)
                settled += 1
            }
            #expect(consumer.bodyBytesInFlight == 0)
            #expect(scene.loop.network.connections.count == 1)
            await consumer.close()
        }
    }

    @Test func anotherConnectionIsHeldUpAsTheFirst() {
        Scene.play { scene in
            try scene.broker.start()
            scene.broker.declareQueue("in")
            for _ in 0..<100 { scene.broker.publish(routingKey: "in", body: .init(repeating: 7, count: 10_000)) }
            let consumer = scene.makeConsumer(prefetch: 100) { $0.bodyBytesInFlightMax = 50_000 }
            await scene.pass(.seconds(10))
            let held = scene.deliveries.count
            #expect(held >= 5 && held < 20, "\(held)")
            scene.loop.network.connections[0].cut()
            await scene.pass(.seconds(10))
            #expect(scene.broker.logins == 2)
            #expect(scene.deliveries.count > held && scene.deliveries.count < held + 20)
            await consumer.close()
        }
    }

    @Test func whoWasNotListenedToHasItsWholeTimeAgain() {
        Scene.play { scene in
            try scene.broker.start()
            scene.broker.declareQueue("in")
            scene.broker.publish(routingKey: "in", body: .init(repeating: 7, count: 50_000))
            let consumer = scene.makeConsumer { $0.bodyBytesInFlightMax = 50_000 }
            await scene.wait("delivery") { scene.deliveries.count == 1 }
            scene.broker.setSilent(true)
            await scene.pass(.seconds(120))
            consumer.acknowledge(scene.deliveries[0].tag)
            await scene.pass(.seconds(45))
            #expect(!scene.states.contains("consumer waiting: timedOut"))
            await scene.wait("loss", limit: .seconds(60)) { scene.states.contains("consumer waiting: timedOut") }
            await consumer.close()
        }
    }

    @Test func whoHoldsTooMuchIsGivenNoMoreForSettlingLittle() {
        Scene.play { scene in
            try scene.broker.start()
            scene.broker.declareQueue("in")
            for number in 0..<120 {
                let size = number < 20 ? 10 : 10_000
                scene.broker.publish(routingKey: "in", messageID: "\(number)", body: .init(repeating: 7, count: size))
            }
            let consumer = scene.makeConsumer(prefetch: 120) { $0.bodyBytesInFlightMax = 50_000 }
            await scene.pass(.seconds(10))
            let held = scene.deliveries
            #expect(consumer.bodyBytesInFlight >= 50_000)
            for delivery in held[..<20] {
                consumer.acknowledge(delivery.tag)
                await scene.pass(.milliseconds(100))
            }
            #expect(scene.deliveries.count == held.count)
            for delivery in held[20...] { consumer.acknowledge(delivery.tag) }
            await scene.wait("more") { scene.deliveries.count > held.count }
            // Held up again, it still hears the answer to its goodbye.
            await scene.pass(.seconds(10))
            #expect(consumer.bodyBytesInFlight >= 50_000)
            let start = scene.loop.now.monotonic
            await consumer.close()
            #expect(start.duration(to: scene.loop.now.monotonic) < .seconds(1))
        }
    }

    @Test func whoHoldsLittleDoesNotLetGoOnWhoHoldsMuch() {
        Scene.play { scene in
            try scene.broker.start()
            scene.broker.declareQueue("in")
            scene.broker.declareQueue("large")
            let connection = scene.makeConnection()
            let little = scene.makeConsumer("in", on: connection)
            let much = scene.makeConsumer("large", prefetch: 100, on: connection) { $0.bodyBytesInFlightMax = 50_000 }
            scene.fill(["a"])
            await scene.wait("delivery") { little.unsettledCount == 1 }
            for _ in 0..<100 { scene.broker.publish(routingKey: "large", body: .init(repeating: 7, count: 10_000)) }
            await scene.pass(.seconds(10))
            let held = much.unsettledCount
            #expect(held >= 5 && held < 20, "\(held)")
            little.acknowledge(scene.deliveries[0].tag)
            await scene.pass(.seconds(10))
            #expect(much.unsettledCount == held)
        }
    }

    @Test func settledTwiceOrTooLateADeliveryGivesBackItsBytesOnce() {
        Scene.play { scene in
            try scene.broker.start()
            scene.broker.declareQueue("in")
            scene.fill(["a", "b"])
            let consumer = scene.makeConsumer()
            await scene.wait("deliveries") { scene.deliveries.count == 2 }
            for _ in 0..<3 {
                consumer.acknowledge(scene.deliveries[0].tag)
                consumer.reject(scene.deliveries[0].tag, requeue: true)
                consumer.requeue(scene.deliveries[0].tag)
            }
            #expect(consumer.staleSettlements == 8)
            #expect(consumer.bodyBytesInFlight == Int(scene.deliveries[1].tag.bytes))
            await scene.wait("ack") { scene.broker.queue("in")?.unsettled == 1 }
            scene.loop.network.connections[0].cut()
            await scene.wait("redelivery") { scene.deliveries.count == 3 }
            #expect(consumer.bodyBytesInFlight > Int(scene.deliveries[2].tag.bytes), "the first is still kept")
            consumer.acknowledge(scene.deliveries[1].tag)
            #expect(consumer.bodyBytesInFlight == Int(scene.deliveries[2].tag.bytes))
            consumer.acknowledge(scene.deliveries[2].tag)
            #expect(consumer.bodyBytesInFlight == 0)
            await scene.wait("ack") { scene.broker.queue("in")?.unsettled == 0 }
            await consumer.close()
        }
    }
}
