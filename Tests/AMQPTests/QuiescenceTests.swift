import AMQP
import EventLoop
import TestKit
import Testing

/// A pause costs no message a delivery: the consumer is cancelled when nothing is in transit.
@Suite struct QuiescenceTests {
    @Test(arguments: [false, true]) func aPauseUnderLoadReturnsNothing(isDrain: Bool) {
        Scene.play { scene in
            try scene.broker.start()
            scene.broker.declareQueue("in")
            scene.broker.behaviour.deliveryDelay = .milliseconds(20)
            let returned = scene.countReturns()
            scene.fill((0..<1000).map { "\($0)" })
            let consumer = scene.makeConsumer(prefetch: 20)
            scene.acknowledgeAtOnce(consumer)
            await scene.wait("load") { scene.deliveries.count > 100 }
            let start = scene.loop.now.monotonic
            if isDrain { await consumer.stopConsuming(deadlineSeconds: 1) } else { consumer.pause() }
            await scene.wait("cancel", limit: .seconds(1)) { scene.broker.queue("in")?.consumerCount == 0 }
            #expect(start.duration(to: scene.loop.now.monotonic) < .milliseconds(100), "the prefetch was full")
            await scene.wait("acks", limit: .seconds(1)) { scene.broker.queue("in")?.unsettled == 0 }
            #expect(returned.count == 0)
            consumer.resume()
            await scene.wait("the rest") { scene.deliveries.count == 1000 }
            #expect(scene.deliveries.allSatisfy { $0.deliveryCount == 0 })
            await consumer.close()
        }
    }

    @Test func anIdleConsumerIsCancelledAfterAMoment() {
        Scene.play { scene in
            try scene.broker.start()
            scene.broker.declareQueue("in")
            scene.fill(["a"])
            let consumer = scene.makeConsumer()
            scene.acknowledgeAtOnce(consumer)
            await scene.wait("delivery") { scene.deliveries.count == 1 }
            await scene.pass(.seconds(1))
            let start = scene.loop.now.monotonic
            await consumer.stopConsuming(deadlineSeconds: 10)
            let waited = start.duration(to: scene.loop.now.monotonic)
            #expect(waited >= .milliseconds(50) && waited < .milliseconds(70))
            await consumer.close()
        }
    }

    @Test(arguments: [10, 1]) func aTrickleHoldsUpThePauseForALimitedTime(deadlineSeconds: Int) {
        Scene.play { scene in
            try scene.broker.start()
            scene.broker.declareQueue("in")
            let consumer = scene.makeConsumer(prefetch: 1000)
            scene.acknowledgeAtOnce(consumer)
            await scene.wait("ready") { consumer.status == .ready }
            for number in 0..<100 {
                scene.loop.schedule(after: .milliseconds(20 * number)) {
                    scene.assumeIsolated { $0.fill(["\(number)"]) }
                }
            }
            await scene.wait("deliveries") { scene.deliveries.count == 10 }
            let start = scene.loop.now.monotonic
            await consumer.stopConsuming(deadlineSeconds: deadlineSeconds)
            let waited = start.duration(to: scene.loop.now.monotonic)
            #expect(waited >= .milliseconds(250) && waited < .milliseconds(270))
            let count = scene.deliveries.count
            #expect(count > 20 && count < 25)
            await scene.pass(.seconds(5))
            #expect(scene.deliveries.count == count)
            #expect(scene.broker.queue("in")?.unsettled == 0, "what was withheld left")
            await consumer.close()
        }
    }

    @Test func aDeadlineThatIsTooShortForItCancelsAtOnce() {
        Scene.play { scene in
            try scene.broker.start()
            scene.broker.declareQueue("in")
            let consumer = scene.makeConsumer()
            await scene.wait("ready") { consumer.status == .ready }
            consumer.pause()
            await consumer.stopConsuming(deadlineSeconds: 0)
            await scene.wait("cancel", limit: .milliseconds(20)) { scene.broker.queue("in")?.consumerCount == 0 }
            await consumer.close()
        }
    }

    @Test func resumedBeforeItWasCancelledItGoesOn() {
        Scene.play { scene in
            try scene.broker.start()
            scene.broker.declareQueue(
                "in", arguments: ["x-dead-letter-exchange": "", "x-dead-letter-routing-key": "dead"])
            scene.broker.declareQueue("dead")
            scene.fill(["a", "b", "c", "d"])
            let consumer = scene.makeConsumer()
            await scene.wait("deliveries") { scene.deliveries.count == 4 }
            consumer.pause()
            consumer.acknowledge(scene.deliveries[0].tag)
            consumer.reject(scene.deliveries[1].tag, requeue: false)
            consumer.acknowledge(scene.deliveries[2].tag)
            consumer.requeue(scene.deliveries[3].tag)
            await scene.pass(.milliseconds(40))
            #expect(scene.broker.queue("in")?.unsettled == 4, "withheld")
            #expect(consumer.unsettledCount == 0)
            consumer.resume()
            await scene.wait("redelivery") { scene.deliveries.count == 5 }
            #expect(scene.deliveredTexts.last == "d")
            #expect(scene.broker.queue("in")?.unsettled == 1)
            #expect(scene.texts(in: "dead") == ["b"])
            #expect(scene.broker.queue("in")?.consumerCount == 1)
            await scene.pass(.seconds(10))
            #expect(scene.broker.queue("in")?.consumerCount == 1)
            #expect(scene.broker.logins == 1)
            await consumer.close()
        }
    }

    @Test func whatIsWithheldLeavesWithTheClose() {
        Scene.play { scene in
            try scene.broker.start()
            scene.broker.declareQueue("in")
            scene.fill(["a", "b", "c"])
            let consumer = scene.makeConsumer()
            await scene.wait("deliveries") { scene.deliveries.count == 3 }
            consumer.pause()
            consumer.acknowledge(scene.deliveries[0].tag)
            consumer.requeue(scene.deliveries[1].tag)
            consumer.acknowledge(scene.deliveries[2].tag)
            await consumer.close()
            #expect(scene.texts(in: "in") == ["b"])
            #expect(scene.states.last == "consumer closed")
        }
    }

    @Test(arguments: ["settled", "lost", "cancelled"]) func whoeverWaitsForTheStopIsToldOnce(how: String) {
        Scene.play { scene in
            try scene.broker.start()
            scene.broker.declareQueue("in")
            scene.fill(["a", "b"])
            let consumer = scene.makeConsumer()
            await scene.wait("deliveries") { scene.deliveries.count == 2 }
            consumer.pause()
            consumer.acknowledge(scene.deliveries[0].tag)
            let start = scene.loop.now.monotonic
            scene.loop.schedule(after: .milliseconds(5)) {
                scene.assumeIsolated { scene in
                    switch how {
                    case "lost": scene.loop.network.connections[0].cut()
                    case "cancelled": scene.broker.deleteQueue("in")
                    default: break
                    }
                }
            }
            let isSettled = await consumer.untilSettled(by: start + .seconds(10))
            #expect(isSettled == (how != "lost"))
            #expect(start.duration(to: scene.loop.now.monotonic) < .milliseconds(100))
            scene.broker.declareQueue("in")
            await scene.wait("ready") { consumer.status == .ready }
            await scene.pass(.seconds(10))
            #expect(scene.broker.queue("in")?.consumerCount == 0)
            await consumer.close()
        }
    }
}
