import AMQP
import EventLoop
import TestKit
import Testing

/// A consumer that pauses and resumes.
@Suite struct PauseTests {
    @Test func aPausedConsumerStaysReadyAndSettlesItsDeliveries() {
        AMQPHarness.play { harness in
            try harness.broker.start()
            harness.broker.declareQueue("in")
            harness.fill(["a", "b"])
            let consumer = harness.makeConsumer()
            await harness.wait("deliveries") { harness.deliveries.count == 2 }
            consumer.pause()
            await harness.wait("cancelled") { harness.broker.queue("in")?.consumerCount == 0 }
            harness.fill(["c"])
            for delivery in harness.deliveries { consumer.acknowledge(delivery.tag) }
            await harness.wait("acks") { harness.broker.queue("in")?.unsettled == 0 }
            await harness.pass(.seconds(60))
            #expect(harness.deliveries.count == 2)
            consumer.resume()
            await harness.wait("delivery") { harness.deliveries.count == 3 }
            #expect(harness.states == ["consumer connecting", "consumer ready"])
            await consumer.close()
        }
    }

    @Test func aPausedConsumerStaysPausedAcrossConnections() {
        AMQPHarness.play { harness in
            try harness.broker.start()
            harness.broker.declareQueue("in")
            let consumer = harness.makeConsumer()
            consumer.pause()
            await harness.wait("ready") { consumer.status == .ready }
            harness.fill(["a"])
            harness.broker.closeConnections()
            await harness.wait("lost") { consumer.status != .ready }
            await harness.wait("ready again") { consumer.status == .ready }
            await harness.pass(.seconds(60))
            #expect(harness.deliveries.isEmpty)
            harness.broker.crash()
            await harness.wait("lost") { consumer.status != .ready }
            consumer.resume()
            try harness.broker.start()
            await harness.wait("delivery") { harness.deliveries.count == 1 }
            #expect(harness.broker.logins == 3, "the number of logins differs from the number of connections")
            await consumer.close()
        }
    }

    // The answer to `basic.consume` is in transit when the consumer is paused.
    @Test func aConsumerPausedWhileItStartsConsumesNothing() {
        AMQPHarness.play { harness in
            harness.loop.network.latencyMicroseconds = 100_000...100_000
            try harness.broker.start()
            harness.broker.declareQueue("in")
            let consumer = harness.makeConsumer()
            await harness.wait("consuming") { harness.broker.queue("in")?.consumerCount == 1 }
            consumer.pause()
            #expect(consumer.status != .ready)
            await harness.wait("cancelled", limit: .seconds(10)) { harness.broker.queue("in")?.consumerCount == 0 }
            harness.fill(["a"])
            await harness.pass(.seconds(60))
            #expect(consumer.status == .ready && harness.deliveries.isEmpty)
            consumer.resume()
            await harness.wait("delivery") { harness.deliveries.count == 1 }
            await consumer.close()
        }
    }

    @Test func aResumedConsumerIsNotReadyWhileItsQueueIsMissing() {
        AMQPHarness.play { harness in
            try harness.broker.start()
            harness.broker.declareQueue("in")
            harness.fill(["a", "b", "c", "d"])
            let consumer = harness.makeConsumer(prefetch: 4)
            await harness.wait("deliveries") { harness.deliveries.count == 4 }
            harness.broker.deleteQueue("in")
            // The consumer consumes again only after most deliveries are settled.
            await harness.pass(.seconds(60))
            consumer.pause()
            #expect(consumer.status == .ready)
            consumer.resume()
            #expect(consumer.status != .ready)
            await harness.pass(.seconds(60))
            #expect(consumer.status != .ready)
            harness.broker.declareQueue("in")
            for delivery in harness.deliveries { consumer.acknowledge(delivery.tag) }
            await harness.wait("consuming") { harness.broker.queue("in")?.consumerCount == 1 }
            await harness.wait("ready") { consumer.status == .ready }
            await consumer.close()
        }
    }

    // The last call of `pause` or `resume` determines the state, whatever the times between the calls.
    @Test(arguments: UInt64(1)...40)
    func theLastCallDecides(seed: UInt64) {
        AMQPHarness.play(seed: seed) { harness in
            var random = SeededRandom(seed: seed)
            harness.broker.declareQueue("in")
            try harness.broker.start()
            let consumer = harness.makeConsumer()
            for _ in 0..<20 {
                if random.chance(percent: 50) { consumer.pause() } else { consumer.resume() }
                switch random.below(12) {
                case 0: harness.broker.closeConnections()
                case 1: harness.broker.deleteQueue("in")
                case 2: harness.broker.declareQueue("in")
                default: break
                }
                await harness.loop.sleep(for: .microseconds(random.below(3000)))
            }
            harness.broker.declareQueue("in")
            consumer.pause()
            await harness.wait("settled") {
                consumer.status == .ready && harness.broker.queue("in")?.consumerCount == 0
            }
            await harness.pass(.seconds(60))
            #expect(harness.broker.queue("in")?.consumerCount == 0)
            consumer.resume()
            await harness.wait("consuming") { harness.broker.queue("in")?.consumerCount == 1 }
            await harness.pass(.seconds(60))
            #expect(harness.broker.queue("in")?.consumerCount == 1)
            #expect(consumer.status == .ready)
            await consumer.close()
        }
    }

    // The consumer is paused while it waits for most deliveries to be settled, before it consumes again.
    @Test func aPauseEndsTheErrorOfACanceledConsumer() {
        AMQPHarness.play { harness in
            try harness.broker.start()
            harness.broker.declareQueue("in")
            harness.fill((0..<10).map { "\($0)" })
            let consumer = harness.makeConsumer(prefetch: 10)
            await harness.wait("deliveries") { harness.deliveries.count == 10 }
            harness.broker.deleteQueue("in")
            await harness.wait("cancel") { harness.states.contains("consumer waiting: consumerCancelled") }
            await harness.pass(.seconds(60))
            #expect(consumer.status != .ready, "the consumer is ready although most deliveries are unsettled")
            consumer.pause()
            #expect(consumer.status == .ready)
            await consumer.close()
        }
    }

    @Test(arguments: 1...2) func theLossOfAChannelIsReportedOnceBeforeRedeliveries(count: Int) {
        AMQPHarness.play { harness in
            try harness.broker.start()
            harness.broker.declareQueue("in")
            let consumer = harness.makeConsumer()
            let losses = harness.countLosses(of: consumer)
            await harness.wait("ready") { consumer.status == .ready }
            harness.broker.closeConnections()
            await harness.wait("lost") { consumer.status != .ready }
            await harness.wait("ready") { consumer.status == .ready }
            #expect(losses.count == 0, "a loss was reported before any delivery")
            harness.fill((0..<count).map { "\($0)" })
            for round in 1...5 {
                await harness.wait("deliveries") { harness.deliveries.count == round * count }
                #expect(losses.count == round - 1)
                #expect(harness.deliveries.suffix(count).allSatisfy { $0.deliveryCount == round - 1 })
                let tags = harness.deliveries.suffix(count).map(\.tag)
                #expect(tags.allSatisfy { consumer.holds($0) })
                switch round {
                case 1: harness.broker.closeConnections()
                case 2: harness.loop.network.connections.last?.cut()
                case 3: harness.broker.closeChannels(406, "PRECONDITION_FAILED - unknown delivery tag 7")
                default:
                    harness.broker.crash()
                    try harness.broker.start()
                }
                await harness.wait("loss") { losses.count == round }
                #expect(harness.deliveries.count == round * count)
                #expect(tags.allSatisfy { !consumer.holds($0) })
            }
            await harness.wait("deliveries") { harness.deliveries.count == 6 * count }
            for delivery in harness.deliveries.suffix(count) { consumer.acknowledge(delivery.tag) }
            await consumer.close()
            #expect(losses.count == 6)
            #expect(harness.texts(in: "in") == [])
        }
    }
}
