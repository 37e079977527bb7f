import EventLoop
import TestKit
import Testing

@testable import AMQP

/// How a consumer stops and closes, and what is settled by then.
@Suite struct ConsumerCloseTests {
    @Test func acknowledgementsMadeJustBeforeTheCloseAreSent() {
        Scene.play { scene in
            try scene.broker.start()
            scene.broker.declareQueue("in")
            scene.fill(["a", "b"])
            let consumer = scene.makeConsumer()
            await scene.wait("deliveries") { scene.deliveries.count == 2 }
            consumer.acknowledge(scene.deliveries[0].tag)
            await consumer.close()
            #expect(scene.texts(in: "in") == ["b"])
        }
    }

    @Test func whatIsDoneBehindAnOpenDeliveryLeavesAtTheClose() {
        Scene.play { scene in
            try scene.broker.start()
            scene.broker.declareQueue("in")
            scene.fill(["open", "b", "c"])
            let consumer = scene.makeConsumer(prefetch: 100)
            await scene.wait("deliveries") { scene.deliveries.count == 3 }
            for delivery in scene.deliveries.dropFirst() { consumer.acknowledge(delivery.tag) }
            await consumer.close()
            #expect(scene.texts(in: "in") == ["open"])
        }
    }

    @Test func stoppedItTakesNoMoreAndSettlesWhatItHas() {
        Scene.play { scene in
            try scene.broker.start()
            scene.broker.declareQueue("in")
            scene.fill((0..<30).map { "\($0)" })
            let consumer = scene.makeConsumer(prefetch: 10)
            await scene.wait("first delivery") { !scene.deliveries.isEmpty }
            await consumer.stopConsuming()
            let count = scene.deliveries.count
            for delivery in scene.deliveries { consumer.acknowledge(delivery.tag) }
            await scene.pass(.seconds(60))
            #expect(scene.deliveries.count == count)
            #expect(scene.texts(in: "in").count == 30 - count)
            // Stopped it stays, also on a new connection.
            scene.broker.closeConnections()
            await scene.pass(.seconds(60))
            #expect(consumer.status == .ready)
            #expect(scene.deliveries.count == count)
            await consumer.stopConsuming()
            await consumer.close()
        }
    }

    /// The answer to `basic.cancel` says nothing of settlements that were sent behind it.
    @Test func settlementsBehindTheCancelAreWaitedFor() {
        Scene.play { scene in
            try scene.broker.start()
            scene.broker.declareQueue("in")
            // Every other is acknowledged, by a method of its own.
            let count = (UnappliedSettlements.unappliedMax + 1) * 2
            scene.fill((0..<count).map { "\($0)" })
            let consumer = scene.makeConsumer(prefetch: 100)
            await scene.wait("deliveries") { scene.deliveries.count == count }
            let start = scene.loop.now.monotonic
            // While settlements are withheld before the cancel.
            _ = scene.loop.schedule(after: .milliseconds(10)) {
                for index in stride(from: 1, to: count, by: 2) { consumer.acknowledge(scene.deliveries[index].tag) }
            }
            #expect(await consumer.untilSettled(by: start + .seconds(10)))
            #expect(start.duration(to: scene.loop.now.monotonic) >= .seconds(UnappliedSettlements.applySecondsMax))
            await consumer.close()
        }
    }

    @Test func stoppingWhileTheQueueIsDeletedIsNoMisunderstanding() {
        Scene.play { scene in
            try scene.broker.start()
            scene.broker.declareQueue("in")
            let consumer = scene.makeConsumer()
            await scene.wait("ready") { consumer.status == .ready }
            scene.broker.deleteQueue("in")
            await consumer.stopConsuming()
            await scene.pass(.seconds(60))
            #expect(consumer.status == .ready)
            #expect(scene.loop.network.connections.count == 1)
            await consumer.close()
        }
    }

    @Test func stoppingAfterTheBrokerEndedTheConsumerIsNoneEither() {
        Scene.play { scene in
            try scene.broker.start()
            scene.broker.declareQueue("in")
            let consumer = scene.makeConsumer()
            await scene.wait("ready") { consumer.status == .ready }
            scene.broker.deleteQueue("in")
            await scene.wait("cancel") { scene.states.contains("consumer waiting: consumerCancelled") }
            await consumer.stopConsuming()
            scene.broker.declareQueue("in")
            scene.fill(["a"])
            await scene.wait("ready") { consumer.status == .ready }
            await scene.pass(.seconds(60))
            #expect(scene.deliveries.isEmpty)
            await consumer.close()
        }
    }

    @Test func closedItHoldsNobodyWhoListened() {
        Scene.play { scene in
            let connection = scene.makeConnection()
            let consumer = Consumer(on: connection, configuration: ConsumerConfiguration(queue: "in", prefetch: 1))
            let publisher = Publisher(on: connection)
            let admin = BrokerAdmin(on: connection)
            weak var deliveries: ConsumerHandler?
            weak var outcomes: SessionHandler?
            weak var answers: SessionHandler?
            do {
                let handlers = (ConsumerHandler(), SessionHandler(), SessionHandler())
                (deliveries, outcomes, answers) = handlers
                consumer.start(handlers.0)
                publisher.start(handlers.1)
                admin.start(handlers.2)
            }
            #expect(deliveries != nil && outcomes != nil && answers != nil)
            await consumer.close()
            #expect(deliveries == nil && outcomes != nil && answers != nil)
            #expect(consumer.status == .closed)
            await connection.close()
            #expect(outcomes == nil && answers == nil)
        }
    }

    /// What was done in one turn and the next waited for one delivery.
    @Test func closedItIsLetGoAtOnce() {
        Scene.play { scene in
            try scene.broker.start()
            scene.broker.declareQueue("in")
            scene.fill(["open", "b", "c"])
            var consumer: Consumer? = scene.makeConsumer(prefetch: 100)
            weak let closed = consumer
            await scene.wait("deliveries") { scene.deliveries.count == 3 }
            for delivery in scene.deliveries.dropFirst() {
                consumer?.acknowledge(delivery.tag)
                await scene.pass(.milliseconds(1))
            }
            await consumer?.close()
            consumer = nil
            #expect(closed == nil)
        }
    }

    @Test func closingTwiceEndsOnce() {
        Scene.play { scene in
            try scene.broker.start()
            scene.broker.declareQueue("in")
            let consumer = scene.makeConsumer()
            await scene.wait("ready") { consumer.status == .ready }
            scene.broker.setSilent(true)
            let start = scene.loop.now.monotonic
            scene.closeWithoutWaiting(consumer)
            await scene.pass(.seconds(1))
            await consumer.close(deadlineSeconds: 100)
            #expect(start.duration(to: scene.loop.now.monotonic) < .seconds(6))
            #expect(scene.states.last == "consumer closed")
        }
    }

    @Test func stoppingEndsWhenTheConnectionDoes() {
        Scene.play { scene in
            try scene.broker.start()
            scene.broker.declareQueue("in")
            let consumer = scene.makeConsumer()
            await scene.wait("ready") { consumer.status == .ready }
            scene.broker.setSilent(true)
            await consumer.stopConsuming()
            #expect(consumer.status != .ready)
            await consumer.close()
        }
    }

    @Test func closeEndsEvenWhenTheBrokerDoesNotAnswer() {
        Scene.play { scene in
            try scene.broker.start()
            scene.broker.declareQueue("in")
            let consumer = scene.makeConsumer()
            await scene.wait("ready") { consumer.status == .ready }
            scene.broker.setSilent(true)
            let start = scene.loop.now.monotonic
            await consumer.close(deadlineSeconds: 3)
            #expect(start.duration(to: scene.loop.now.monotonic) <= .seconds(4))
            #expect(consumer.status == .closed)
            let idle = scene.makeConsumer()
            await idle.close()
            #expect(idle.status == .closed)
        }
    }
}
