import EventLoop
import TestKit
import Testing

@testable import AMQP

/// Stopping and closing a consumer, and the settlements before the end.
@Suite struct ConsumerCloseTests {
    @Test func acknowledgmentsMadeJustBeforeTheCloseAreSent() {
        AMQPHarness.play { harness in
            try harness.broker.start()
            harness.broker.declareQueue("in")
            harness.fill(["a", "b"])
            let consumer = harness.makeConsumer()
            await harness.wait("deliveries") { harness.deliveries.count == 2 }
            consumer.acknowledge(harness.deliveries[0].tag)
            await consumer.close()
            #expect(harness.texts(in: "in") == ["b"])
        }
    }

    @Test func acknowledgmentsBehindAnOpenDeliveryAreSentAtTheClose() {
        AMQPHarness.play { harness in
            try harness.broker.start()
            harness.broker.declareQueue("in")
            harness.fill(["open", "b", "c"])
            let consumer = harness.makeConsumer(prefetch: 100)
            await harness.wait("deliveries") { harness.deliveries.count == 3 }
            for delivery in harness.deliveries.dropFirst() { consumer.acknowledge(delivery.tag) }
            await consumer.close()
            #expect(harness.texts(in: "in") == ["open"])
        }
    }

    @Test func aStoppedConsumerReceivesNothingAndSettlesItsDeliveries() {
        AMQPHarness.play { harness in
            try harness.broker.start()
            harness.broker.declareQueue("in")
            harness.fill((0..<30).map { "\($0)" })
            let consumer = harness.makeConsumer(prefetch: 10)
            await harness.wait("first delivery") { !harness.deliveries.isEmpty }
            await consumer.stopConsuming()
            let count = harness.deliveries.count
            for delivery in harness.deliveries { consumer.acknowledge(delivery.tag) }
            await harness.pass(.seconds(60))
            #expect(harness.deliveries.count == count)
            #expect(harness.texts(in: "in").count == 30 - count)
            // The consumer stays stopped, also on a new connection.
            harness.broker.closeConnections()
            await harness.pass(.seconds(60))
            #expect(consumer.status == .ready)
            #expect(harness.deliveries.count == count)
            await consumer.stopConsuming()
            await consumer.close()
        }
    }

    // The answer to `basic.cancel` does not prove that settlements sent after `basic.cancel` are applied.
    @Test func waitingCoversSettlementsAfterTheCancel() {
        AMQPHarness.play { harness in
            try harness.broker.start()
            harness.broker.declareQueue("in")
            // The test acknowledges only every second delivery, so each acknowledgment is sent individually.
            let count = (UnappliedSettlements.unappliedMax + 1) * 2
            harness.fill((0..<count).map { "\($0)" })
            let consumer = harness.makeConsumer(prefetch: 100)
            await harness.wait("deliveries") { harness.deliveries.count == count }
            let start = harness.loop.now.monotonic
            // Until the consumer sends `basic.cancel`, it withholds settlements.
            _ = harness.loop.schedule(after: .milliseconds(10)) {
                for index in stride(from: 1, to: count, by: 2) { consumer.acknowledge(harness.deliveries[index].tag) }
            }
            #expect(await consumer.waitUntilSettled(by: start + .seconds(10)))
            #expect(start.duration(to: harness.loop.now.monotonic) >= .seconds(UnappliedSettlements.applySecondsMax))
            await consumer.close()
        }
    }

    @Test func stoppingWhileTheQueueIsDeletedIsNoViolation() {
        AMQPHarness.play { harness in
            try harness.broker.start()
            harness.broker.declareQueue("in")
            let consumer = harness.makeConsumer()
            await harness.wait("ready") { consumer.status == .ready }
            harness.broker.deleteQueue("in")
            await consumer.stopConsuming()
            await harness.pass(.seconds(60))
            #expect(consumer.status == .ready)
            #expect(harness.loop.network.connections.count == 1)
            await consumer.close()
        }
    }

    @Test func stoppingAfterTheBrokersCancelIsNoViolation() {
        AMQPHarness.play { harness in
            try harness.broker.start()
            harness.broker.declareQueue("in")
            let consumer = harness.makeConsumer()
            await harness.wait("ready") { consumer.status == .ready }
            harness.broker.deleteQueue("in")
            await harness.wait("cancel") { harness.states.contains("consumer waiting: consumerCancelled") }
            await consumer.stopConsuming()
            harness.broker.declareQueue("in")
            harness.fill(["a"])
            await harness.wait("ready") { consumer.status == .ready }
            await harness.pass(.seconds(60))
            #expect(harness.deliveries.isEmpty)
            await consumer.close()
        }
    }

    @Test func aClosedConsumerReleasesItsHandler() {
        AMQPHarness.play { harness in
            let connection = harness.makeConnection()
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

    // Settlements must not wait for the next delivery, which never arrives.
    @Test func aClosedConsumerIsReleasedImmediately() {
        AMQPHarness.play { harness in
            try harness.broker.start()
            harness.broker.declareQueue("in")
            harness.fill(["open", "b", "c"])
            var consumer: Consumer? = harness.makeConsumer(prefetch: 100)
            weak let closed = consumer
            await harness.wait("deliveries") { harness.deliveries.count == 3 }
            for delivery in harness.deliveries.dropFirst() {
                consumer?.acknowledge(delivery.tag)
                await harness.pass(.milliseconds(1))
            }
            await consumer?.close()
            consumer = nil
            #expect(closed == nil)
        }
    }

    @Test func closingTwiceEndsOnce() {
        AMQPHarness.play { harness in
            try harness.broker.start()
            harness.broker.declareQueue("in")
            let consumer = harness.makeConsumer()
            await harness.wait("ready") { consumer.status == .ready }
            harness.broker.setSilent(true)
            let start = harness.loop.now.monotonic
            harness.closeWithoutWaiting(consumer)
            await harness.pass(.seconds(1))
            await consumer.close(deadlineSeconds: 100)
            #expect(start.duration(to: harness.loop.now.monotonic) < .seconds(6))
            #expect(harness.states.last == "consumer closed")
        }
    }

    @Test func stoppingEndsWhenTheConnectionDoes() {
        AMQPHarness.play { harness in
            try harness.broker.start()
            harness.broker.declareQueue("in")
            let consumer = harness.makeConsumer()
            await harness.wait("ready") { consumer.status == .ready }
            harness.broker.setSilent(true)
            await consumer.stopConsuming()
            #expect(consumer.status != .ready)
            await consumer.close()
        }
    }

    @Test func closingEndsWithoutAnAnswerOfTheBroker() {
        AMQPHarness.play { harness in
            try harness.broker.start()
            harness.broker.declareQueue("in")
            let consumer = harness.makeConsumer()
            await harness.wait("ready") { consumer.status == .ready }
            harness.broker.setSilent(true)
            let start = harness.loop.now.monotonic
            await consumer.close(deadlineSeconds: 3)
            #expect(start.duration(to: harness.loop.now.monotonic) <= .seconds(4))
            #expect(consumer.status == .closed)
            let idle = harness.makeConsumer()
            await idle.close()
            #expect(idle.status == .closed)
        }
    }
}
