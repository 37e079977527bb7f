import AMQP
import EventLoop
import TestKit
import Testing

/// Pauses without failed deliveries. The consumer is canceled while no delivery is in transit.
@Suite struct QuiescenceTests {
    @Test(arguments: [false, true]) func aPauseUnderLoadRequeuesNothing(isDrain: Bool) {
        AMQPHarness.play { harness in
            try harness.broker.start()
            harness.broker.declareQueue("in")
            harness.broker.behavior.deliveryDelay = .milliseconds(20)
            let returned = harness.countReturns()
            harness.fill((0..<1000).map { "\($0)" })
            let consumer = harness.makeConsumer(prefetch: 20)
            harness.acknowledgeImmediately(consumer)
            await harness.wait("load") { harness.deliveries.count > 100 }
            let start = harness.loop.now.monotonic
            if isDrain { await consumer.stopConsuming(deadlineSeconds: 1) } else { consumer.pause() }
            await harness.wait("cancel", limit: .seconds(1)) { harness.broker.queue("in")?.consumerCount == 0 }
            #expect(
                start.duration(to: harness.loop.now.monotonic) < .milliseconds(100),
                "the stop waited although the prefetch was full")
            await harness.wait("acks", limit: .seconds(1)) { harness.broker.queue("in")?.unsettled == 0 }
            #expect(returned.count == 0)
            consumer.resume()
            await harness.wait("the rest") { harness.deliveries.count == 1000 }
            #expect(harness.deliveries.allSatisfy { $0.deliveryCount == 0 })
            await consumer.close()
        }
    }

    @Test func anIdleConsumerIsCancelledAfterAMoment() {
        AMQPHarness.play { harness in
            try harness.broker.start()
            harness.broker.declareQueue("in")
            harness.fill(["a"])
            let consumer = harness.makeConsumer()
            harness.acknowledgeImmediately(consumer)
            await harness.wait("delivery") { harness.deliveries.count == 1 }
            await harness.pass(.seconds(1))
            let start = harness.loop.now.monotonic
            await consumer.stopConsuming(deadlineSeconds: 10)
            let waited = start.duration(to: harness.loop.now.monotonic)
            #expect(waited >= .milliseconds(50) && waited < .milliseconds(70))
            await consumer.close()
        }
    }

    @Test(arguments: [10, 1]) func slowDeliveriesDelayThePauseForALimitedTime(deadlineSeconds: Int) {
        AMQPHarness.play { harness in
            try harness.broker.start()
            harness.broker.declareQueue("in")
            let consumer = harness.makeConsumer(prefetch: 1000)
            harness.acknowledgeImmediately(consumer)
            await harness.wait("ready") { consumer.status == .ready }
            for number in 0..<100 {
                harness.loop.schedule(after: .milliseconds(20 * number)) {
                    harness.assumeIsolated { $0.fill(["\(number)"]) }
                }
            }
            await harness.wait("deliveries") { harness.deliveries.count == 10 }
            let start = harness.loop.now.monotonic
            await consumer.stopConsuming(deadlineSeconds: deadlineSeconds)
            let waited = start.duration(to: harness.loop.now.monotonic)
            #expect(waited >= .milliseconds(250) && waited < .milliseconds(270))
            let count = harness.deliveries.count
            #expect(count > 20 && count < 25)
            await harness.pass(.seconds(5))
            #expect(harness.deliveries.count == count)
            #expect(harness.broker.queue("in")?.unsettled == 0, "withheld settlements were not sent")
            await consumer.close()
        }
    }

    @Test func aShortDeadlineCancelsImmediately() {
        AMQPHarness.play { harness in
            try harness.broker.start()
            harness.broker.declareQueue("in")
            let consumer = harness.makeConsumer()
            await harness.wait("ready") { consumer.status == .ready }
            consumer.pause()
            await consumer.stopConsuming(deadlineSeconds: 0)
            await harness.wait("cancel", limit: .milliseconds(20)) { harness.broker.queue("in")?.consumerCount == 0 }
            await consumer.close()
        }
    }

    @Test func aConsumerResumedBeforeTheCancelContinues() {
        AMQPHarness.play { harness in
            try harness.broker.start()
            harness.broker.declareQueue(
                "in", arguments: ["x-dead-letter-exchange": "", "x-dead-letter-routing-key": "dead"])
            harness.broker.declareQueue("dead")
            harness.fill(["a", "b", "c", "d"])
            let consumer = harness.makeConsumer()
            await harness.wait("deliveries") { harness.deliveries.count == 4 }
            consumer.pause()
            consumer.acknowledge(harness.deliveries[0].tag)
            consumer.reject(harness.deliveries[1].tag, requeue: false)
            consumer.acknowledge(harness.deliveries[2].tag)
            consumer.requeue(harness.deliveries[3].tag)
            await harness.pass(.milliseconds(40))
            #expect(harness.broker.queue("in")?.unsettled == 4, "a withheld settlement was sent")
            #expect(consumer.unsettledCount == 0)
            consumer.resume()
            await harness.wait("redelivery") { harness.deliveries.count == 5 }
            #expect(harness.deliveredTexts.last == "d")
            #expect(harness.broker.queue("in")?.unsettled == 1)
            #expect(harness.texts(in: "dead") == ["b"])
            #expect(harness.broker.queue("in")?.consumerCount == 1)
            await harness.pass(.seconds(10))
            #expect(harness.broker.queue("in")?.consumerCount == 1)
            #expect(harness.broker.logins == 1)
            await consumer.close()
        }
    }

    @Test func withheldSettlementsAreSentAtTheClose() {
        AMQPHarness.play { harness in
            try harness.broker.start()
            harness.broker.declareQueue("in")
            harness.fill(["a", "b", "c"])
            let consumer = harness.makeConsumer()
            await harness.wait("deliveries") { harness.deliveries.count == 3 }
            consumer.pause()
            consumer.acknowledge(harness.deliveries[0].tag)
            consumer.requeue(harness.deliveries[1].tag)
            consumer.acknowledge(harness.deliveries[2].tag)
            await consumer.close()
            #expect(harness.texts(in: "in") == ["b"])
            #expect(harness.states.last == "consumer closed")
        }
    }

    @Test(arguments: ["settled", "lost", "cancelled"]) func aTaskThatWaitsForTheStopResumesOnce(how: String) {
        AMQPHarness.play { harness in
            try harness.broker.start()
            harness.broker.declareQueue("in")
            harness.fill(["a", "b"])
            let consumer = harness.makeConsumer()
            await harness.wait("deliveries") { harness.deliveries.count == 2 }
            consumer.pause()
            consumer.acknowledge(harness.deliveries[0].tag)
            let start = harness.loop.now.monotonic
            harness.loop.schedule(after: .milliseconds(5)) {
                harness.assumeIsolated { harness in
                    switch how {
                    case "lost": harness.loop.network.connections[0].cut()
                    case "cancelled": harness.broker.deleteQueue("in")
                    default: break
                    }
                }
            }
            let isSettled = await consumer.waitUntilSettled(by: start + .seconds(10))
            #expect(isSettled == (how != "lost"))
            #expect(start.duration(to: harness.loop.now.monotonic) < .milliseconds(100))
            harness.broker.declareQueue("in")
            await harness.wait("ready") { consumer.status == .ready }
            await harness.pass(.seconds(10))
            #expect(harness.broker.queue("in")?.consumerCount == 0)
            await consumer.close()
        }
    }
}
