import AMQP
import EventLoop
import TestKit
import Testing

/// A consumer that resumes while deliveries from before the pause are unsettled.
@Suite struct ResumeTests {
    /// RabbitMQ 3.10 crashes the channel when a tag is used again meanwhile.
    @Test func eachConsumeHasATagOfItsOwn() {
        Scene.play { scene in
            try scene.broker.start()
            scene.broker.declareQueue("in")
            scene.fill((0..<100).map { "\($0)" })
            let consumer = scene.makeConsumer(prefetch: 8)
            for round in 1...5 {
                await scene.wait("deliveries") { consumer.unsettledCount >= 8 }
                consumer.pause()
                await scene.wait("cancel") { scene.broker.queue("in")?.consumerCount == 0 }
                for delivery in scene.deliveries.dropLast(2) where consumer.holds(delivery.tag) {
                    consumer.acknowledge(delivery.tag)
                }
                consumer.resume()
                await scene.wait("deliveries") { scene.deliveries.count == 8 + 8 * round }
                #expect(consumer.unsettledCount == 10)
            }
            #expect(scene.broker.channelCrashes == 0)
            #expect(scene.broker.logins == 1)
            #expect(scene.deliveries.allSatisfy { !$0.isRedelivered })
            #expect(scene.states == ["consumer connecting", "consumer ready"])
            await consumer.close()
        }
    }

    @Test func itConsumesOnceAQuarterOfThePrefetchIsUnsettled() {
        Scene.play { scene in
            try scene.broker.start()
            scene.broker.declareQueue("in")
            scene.fill((0..<40).map { "\($0)" })
            let consumer = scene.makeConsumer(prefetch: 8)
            await scene.wait("deliveries") { scene.deliveries.count == 8 }
            consumer.pause()
            await scene.wait("cancel") { scene.broker.queue("in")?.consumerCount == 0 }
            consumer.resume()
            await scene.pass(.seconds(60))
            #expect(scene.deliveries.count == 8)
            consumer.acknowledge(scene.deliveries[7].tag)
            consumer.reject(scene.deliveries[2].tag, requeue: false)
            consumer.requeue(scene.deliveries[3].tag)
            consumer.acknowledge(scene.deliveries[4].tag)
            consumer.acknowledge(scene.deliveries[5].tag)
            await scene.pass(.seconds(60))
            #expect(scene.deliveries.count == 8)
            #expect(consumer.status == .ready)
            consumer.acknowledge(scene.deliveries[6].tag)
            await scene.wait("deliveries", limit: .seconds(1)) { scene.deliveries.count == 16 }
            #expect(consumer.unsettledCount == 10)
            // The last word counts while it waits as well.
            consumer.pause()
            await scene.wait("cancel") { scene.broker.queue("in")?.consumerCount == 0 }
            consumer.resume()
            consumer.pause()
            for delivery in scene.deliveries where consumer.holds(delivery.tag) { consumer.acknowledge(delivery.tag) }
            await scene.pass(.seconds(60))
            #expect(scene.broker.queue("in")?.consumerCount == 0)
            #expect(scene.deliveries.count == 16)
            await consumer.close()
        }
    }

    /// The broker ended the consumer; what it had delivered is unsettled.
    @Test func afterTheBrokersCancelTheSameHolds() {
        Scene.play { scene in
            try scene.broker.start()
            scene.broker.declareQueue("in")
            scene.fill((0..<8).map { "\($0)" })
            let consumer = scene.makeConsumer(prefetch: 8)
            await scene.wait("deliveries") { scene.deliveries.count == 8 }
            scene.broker.deleteQueue("in")
            scene.broker.declareQueue("in")
            scene.fill((0..<8).map { "\($0)" })
            await scene.pass(.seconds(60))
            #expect(scene.deliveries.count == 8)
            for delivery in scene.deliveries { consumer.acknowledge(delivery.tag) }
            await scene.wait("deliveries") { scene.deliveries.count == 16 }
            #expect(scene.broker.logins == 1)
            await consumer.close()
        }
    }

    /// Whatever is settled and how, and whenever it pauses: the channel lives, nothing is lost, and no more is unsettled than
    /// a prefetch and a quarter.
    @Test(arguments: UInt64(1)...40) func theUnsettledAreBounded(seed: UInt64) {
        Scene.play(seed: seed) { scene in
            var random = SeededRandom(seed: seed)
            let prefetch = 1 + random.below(40)
            scene.broker.behaviour.deliveryDelay = .milliseconds(random.below(20))
            scene.broker.behaviour.confirmDelayMilliseconds = 0...random.below(20)
            scene.broker.declareQueue("in")
            try scene.broker.start()
            let count = 500
            scene.fill((0..<count).map { "\($0)" })
            let consumer = scene.makeConsumer(prefetch: prefetch)
            var done: Set<String> = []
            var unsettledMost = 0
            var seen = 0
            var held: [IncomingMessage] = []
            for _ in 0..<100_000 where done.count < count {
                switch random.below(20) {
                case 0: consumer.pause()
                case 1: await consumer.stopConsuming(deadlineSeconds: random.below(2))
                case 2...5: consumer.resume()
                default: break
                }
                held += scene.deliveries[seen...]
                seen = scene.deliveries.count
                unsettledMost = max(unsettledMost, consumer.unsettledCount)
                for _ in 0..<min(held.count, random.below(5)) {
                    let delivery = held.remove(at: random.below(held.count))
                    switch random.below(20) {
                    case 0: consumer.requeue(delivery.tag)
                    case 1: consumer.reject(delivery.tag, requeue: true)
                    default:
                        consumer.acknowledge(delivery.tag)
                        done.insert(String(decoding: delivery.body, as: UTF8.self))
                    }
                }
                await scene.loop.sleep(for: .milliseconds(random.below(30)))
            }
            #expect(done.count == count)
            #expect(unsettledMost <= prefetch + prefetch / 4)
            #expect(scene.broker.channelCrashes == 0)
            #expect(scene.broker.logins == 1)
            #expect(consumer.staleSettlements == 0)
            #expect(await consumer.untilSettled(by: scene.loop.now.monotonic + .seconds(10)))
            await consumer.close()
            #expect(scene.texts(in: "in") == [])
        }
    }
}
