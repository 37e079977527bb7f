import AMQP
import EventLoop
import TestKit
import Testing

/// A consumer that resumes while deliveries from before the pause are unsettled.
@Suite struct ResumeTests {
    // RabbitMQ 3.10 crashes the channel if a consumer tag is reused while deliveries of its earlier use are
    // unsettled.
    @Test func eachConsumeHasANewTag() {
        AMQPHarness.play { harness in
            try harness.broker.start()
            harness.broker.declareQueue("in")
            harness.fill((0..<100).map { "\($0)" })
            let consumer = harness.makeConsumer(prefetch: 8)
            for round in 1...5 {
                await harness.wait("deliveries") { consumer.unsettledCount >= 8 }
                consumer.pause()
                await harness.wait("cancel") { harness.broker.queue("in")?.consumerCount == 0 }
                for delivery in harness.deliveries.dropLast(2) where consumer.holds(delivery.tag) {
                    consumer.acknowledge(delivery.tag)
                }
                consumer.resume()
                await harness.wait("deliveries") { harness.deliveries.count == 8 + 8 * round }
                #expect(consumer.unsettledCount == 10)
            }
            #expect(harness.broker.channelCrashes == 0)
            #expect(harness.broker.logins == 1)
            #expect(harness.deliveries.allSatisfy { !$0.isRedelivered })
            #expect(harness.states == ["consumer connecting", "consumer ready"])
            await consumer.close()
        }
    }

    @Test func theConsumerResumesOnceAQuarterOfThePrefetchIsUnsettled() {
        AMQPHarness.play { harness in
            try harness.broker.start()
            harness.broker.declareQueue("in")
            harness.fill((0..<40).map { "\($0)" })
            let consumer = harness.makeConsumer(prefetch: 8)
            await harness.wait("deliveries") { harness.deliveries.count == 8 }
            consumer.pause()
            await harness.wait("cancel") { harness.broker.queue("in")?.consumerCount == 0 }
            consumer.resume()
            await harness.pass(.seconds(60))
            #expect(harness.deliveries.count == 8)
            consumer.acknowledge(harness.deliveries[7].tag)
            consumer.reject(harness.deliveries[2].tag, requeue: false)
            consumer.requeue(harness.deliveries[3].tag)
            consumer.acknowledge(harness.deliveries[4].tag)
            consumer.acknowledge(harness.deliveries[5].tag)
            await harness.pass(.seconds(60))
            #expect(harness.deliveries.count == 8)
            #expect(consumer.status == .ready)
            consumer.acknowledge(harness.deliveries[6].tag)
            await harness.wait("deliveries", limit: .seconds(1)) { harness.deliveries.count == 16 }
            #expect(consumer.unsettledCount == 10)
            // While the consumer waits for settlements, the last call of `pause` or `resume` determines whether it
            // consumes again.
            consumer.pause()
            await harness.wait("cancel") { harness.broker.queue("in")?.consumerCount == 0 }
            consumer.resume()
            consumer.pause()
            for delivery in harness.deliveries where consumer.holds(delivery.tag) { consumer.acknowledge(delivery.tag) }
            await harness.pass(.seconds(60))
            #expect(harness.broker.queue("in")?.consumerCount == 0)
            #expect(harness.deliveries.count == 16)
            await consumer.close()
        }
    }

    // The broker cancels the consumer while deliveries are unsettled.
    @Test func theConsumerAlsoWaitsAfterTheBrokersCancel() {
        AMQPHarness.play { harness in
            try harness.broker.start()
            harness.broker.declareQueue("in")
            harness.fill((0..<8).map { "\($0)" })
            let consumer = harness.makeConsumer(prefetch: 8)
            await harness.wait("deliveries") { harness.deliveries.count == 8 }
            harness.broker.deleteQueue("in")
            harness.broker.declareQueue("in")
            harness.fill((0..<8).map { "\($0)" })
            await harness.pass(.seconds(60))
            #expect(harness.deliveries.count == 8)
            for delivery in harness.deliveries { consumer.acknowledge(delivery.tag) }
            await harness.wait("deliveries") { harness.deliveries.count == 16 }
            #expect(harness.broker.logins == 1)
            await consumer.close()
        }
    }

    // For any settlements and pauses, the channel stays open and no message is lost. The number of unsettled
    // deliveries is at most 1.25 times the prefetch.
    @Test(arguments: UInt64(1)...40) func unsettledDeliveriesAreBounded(seed: UInt64) {
        AMQPHarness.play(seed: seed) { harness in
            var random = SeededRandom(seed: seed)
            let prefetch = 1 + random.below(40)
            harness.broker.behavior.deliveryDelay = .milliseconds(random.below(20))
            harness.broker.behavior.confirmDelayMilliseconds = 0...random.below(20)
            harness.broker.declareQueue("in")
            try harness.broker.start()
            let count = 500
            harness.fill((0..<count).map { "\($0)" })
            let consumer = harness.makeConsumer(prefetch: prefetch)
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
                held += harness.deliveries[seen...]
                seen = harness.deliveries.count
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
                await harness.loop.sleep(for: .milliseconds(random.below(30)))
            }
            #expect(done.count == count)
            #expect(unsettledMost <= prefetch + prefetch / 4)
            #expect(harness.broker.channelCrashes == 0)
            #expect(harness.broker.logins == 1)
            #expect(consumer.staleSettlements == 0)
            #expect(await consumer.waitUntilSettled(by: harness.loop.now.monotonic + .seconds(10)))
            await consumer.close()
            #expect(harness.texts(in: "in") == [])
        }
    }
}
