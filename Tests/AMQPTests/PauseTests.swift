import AMQP
import EventLoop
import TestKit
import Testing

/// A consumer that pauses and resumes, and fetches single messages.
@Suite struct PauseTests {
    @Test func pausedItStaysReadyAndSettlesWhatItHas() {
        Scene.play { scene in
            try scene.broker.start()
            scene.broker.declareQueue("in")
            scene.fill(["a", "b"])
            let consumer = scene.makeConsumer()
            await scene.wait("deliveries") { scene.deliveries.count == 2 }
            consumer.pause()
            await scene.wait("cancelled") { scene.broker.queue("in")?.consumerCount == 0 }
            scene.fill(["c"])
            for delivery in scene.deliveries { consumer.acknowledge(delivery.tag) }
            await scene.wait("acks") { scene.broker.queue("in")?.unsettled == 0 }
            await scene.pass(.seconds(60))
            #expect(scene.deliveries.count == 2)
            consumer.resume()
            await scene.wait("delivery") { scene.deliveries.count == 3 }
            #expect(scene.states == ["consumer connecting", "consumer ready"])
            await consumer.close()
        }
    }

    @Test func pausedItStaysAcrossConnectionsUntilItResumes() {
        Scene.play { scene in
            try scene.broker.start()
            scene.broker.declareQueue("in")
            let consumer = scene.makeConsumer()
            consumer.pause()
            await scene.wait("ready") { consumer.status == .ready }
            scene.fill(["a"])
            scene.broker.closeConnections()
            await scene.wait("lost") { consumer.status != .ready }
            await scene.wait("ready again") { consumer.status == .ready }
            await scene.pass(.seconds(60))
            #expect(scene.deliveries.isEmpty)
            scene.broker.crash()
            await scene.wait("lost") { consumer.status != .ready }
            consumer.resume()
            try scene.broker.start()
            await scene.wait("delivery") { scene.deliveries.count == 1 }
            #expect(scene.broker.logins == 3, "one for each connection that was lost, and the first")
            await consumer.close()
        }
    }

    @Test func resumedItIsNotReadyWhileItsQueueIsMissing() {
        Scene.play { scene in
            try scene.broker.start()
            scene.broker.declareQueue("in")
            scene.fill(["a", "b", "c", "d"])
            let consumer = scene.makeConsumer(prefetch: 4)
            await scene.wait("deliveries") { scene.deliveries.count == 4 }
            scene.broker.deleteQueue("in")
            // It consumes again once most deliveries are settled.
            await scene.pass(.seconds(60))
            consumer.pause()
            #expect(consumer.status == .ready)
            consumer.resume()
            #expect(consumer.status != .ready)
            await scene.pass(.seconds(60))
            #expect(consumer.status != .ready)
            scene.broker.declareQueue("in")
            for delivery in scene.deliveries { consumer.acknowledge(delivery.tag) }
            await scene.wait("consuming") { scene.broker.queue("in")?.consumerCount == 1 }
            await scene.wait("ready") { consumer.status == .ready }
            await consumer.close()
        }
    }

    /// Whatever the times between the calls, the last one counts.
    @Test(arguments: UInt64(1)...40)
    func theLastCallCounts(seed: UInt64) {
        Scene.play(seed: seed) { scene in
            var random = SeededRandom(seed: seed)
            scene.broker.declareQueue("in")
            try scene.broker.start()
            let consumer = scene.makeConsumer()
            for _ in 0..<20 {
                if random.chance(percent: 50) { consumer.pause() } else { consumer.resume() }
                switch random.below(12) {
                case 0: scene.broker.closeConnections()
                case 1: scene.broker.deleteQueue("in")
                case 2: scene.broker.declareQueue("in")
                default: break
                }
                await scene.loop.sleep(for: .microseconds(random.below(3000)))
            }
            scene.broker.declareQueue("in")
            consumer.pause()
            await scene.wait("settled") { consumer.status == .ready && scene.broker.queue("in")?.consumerCount == 0 }
            await scene.pass(.seconds(60))
            #expect(scene.broker.queue("in")?.consumerCount == 0)
            consumer.resume()
            await scene.wait("consuming") { scene.broker.queue("in")?.consumerCount == 1 }
            await scene.pass(.seconds(60))
            #expect(scene.broker.queue("in")?.consumerCount == 1)
            #expect(consumer.status == .ready)
            await consumer.close()
        }
    }

    /// It waits for settlements before it consumes again, and is paused then.
    @Test func aPauseEndsTheErrorOfAConsumerThatTheBrokerEnded() {
        Scene.play { scene in
            try scene.broker.start()
            scene.broker.declareQueue("in")
            scene.fill((0..<10).map { "\($0)" })
            let consumer = scene.makeConsumer(prefetch: 10)
            await scene.wait("deliveries") { scene.deliveries.count == 10 }
            scene.broker.deleteQueue("in")
            await scene.wait("cancel") { scene.states.contains("consumer waiting: consumerCancelled") }
            await scene.pass(.seconds(60))
            #expect(consumer.status != .ready, "most deliveries are unsettled")
            consumer.pause()
            #expect(consumer.status == .ready)
            await consumer.close()
        }
    }

    @Test(arguments: 1...2) func theLossOfAChannelIsSaidOnceBeforeAnyRedelivery(count: Int) {
        Scene.play { scene in
            try scene.broker.start()
            scene.broker.declareQueue("in")
            let consumer = scene.makeConsumer()
            let losses = scene.countLosses(of: consumer)
            await scene.wait("ready") { consumer.status == .ready }
            scene.broker.closeConnections()
            await scene.wait("lost") { consumer.status != .ready }
            await scene.wait("ready") { consumer.status == .ready }
            #expect(losses.count == 0, "nothing had been delivered")
            scene.fill((0..<count).map { "\($0)" })
            for round in 1...5 {
                await scene.wait("deliveries") { scene.deliveries.count == round * count }
                #expect(losses.count == round - 1)
                #expect(scene.deliveries.suffix(count).allSatisfy { $0.deliveryCount == round - 1 })
                let tags = scene.deliveries.suffix(count).map(\.tag)
                #expect(tags.allSatisfy { consumer.holds($0) })
                switch round {
                case 1: scene.broker.closeConnections()
                case 2: scene.loop.network.connections.last?.cut()
                case 3: scene.broker.closeChannels(406, "PRECONDITION_FAILED - unknown delivery tag 7")
                default:
                    scene.broker.crash()
                    try scene.broker.start()
                }
                await scene.wait("loss") { losses.count == round }
                #expect(scene.deliveries.count == round * count)
                #expect(tags.allSatisfy { !consumer.holds($0) })
            }
            await scene.wait("deliveries") { scene.deliveries.count == 6 * count }
            for delivery in scene.deliveries.suffix(count) { consumer.acknowledge(delivery.tag) }
            await consumer.close()
            #expect(losses.count == 6)
            #expect(scene.texts(in: "in") == [])
        }
    }
}
