import AMQP
import EventLoop
import TestKit
import Testing

/// A consumer that pauses and resumes at a real RabbitMQ.
@Suite struct RabbitMQPauseTests {
    // RabbitMQ 3.10 crashes the channel if a consumer tag is reused while deliveries of its earlier use are
    // unsettled (rabbitmq-server#5927).
    @Test func resumingWithUnsettledDeliveriesKeepsTheChannel() async throws {
        try await RabbitMQTests.play { bench in
            let admin = bench.makeAdmin()
            try await admin.declareQueue("amqp.resume", arguments: ["x-queue-type": "quorum"])
            let publisher = bench.makePublisher()
            try await publisher.waitUntilReady(deadlineSeconds: 10)
            let count = 2000
            await bench.publish(count, to: "amqp.resume")
            let consumer = bench.makeConsumer("amqp.resume")
            var losses = 0
            bench.handler(of: consumer).onChannelLost = { losses += 1 }
            let old = 20
            for round in 1...15 {
                await bench.wait("deliveries") { bench.deliveries.count >= 100 * round }
                consumer.pause()
                if round.isMultiple(of: 2) { await consumer.stopConsuming(deadlineSeconds: 10) }
                for delivery in bench.deliveries.dropLast(old) where consumer.holds(delivery.tag) {
                    consumer.acknowledge(delivery.tag)
                }
                if round.isMultiple(of: 3) { await bench.loop.sleep(for: .milliseconds(100)) }
                consumer.resume()
            }
            var seen = 0
            while seen < count {
                await bench.wait("deliveries") { bench.deliveries.count > seen }
                guard bench.deliveries.count > seen else { break }
                for delivery in bench.deliveries where consumer.holds(delivery.tag) {
                    consumer.acknowledge(delivery.tag)
                }
                seen = bench.deliveries.count
            }
            #expect(losses == 0)
            #expect(bench.deliveries.count == count)
            #expect(bench.deliveries.allSatisfy { !$0.isRedelivered })
            await consumer.close()
            try await bench.wait("an empty queue", for: 0, in: "amqp.resume", by: admin)
            await publisher.close()
            await admin.close()
        }
    }

    // A delivery in transit at a `basic.cancel` is requeued and counts as failed.
    @Test(arguments: [false, true]) func aPauseUnderLoadRaisesNoDeliveryCount(isDrain: Bool) async throws {
        try await RabbitMQTests.play { bench in
            let queue = "amqp.load.\(isDrain)"
            let admin = bench.makeAdmin()
            try await admin.declareQueue(queue, arguments: ["x-queue-type": "quorum"])
            let publisher = bench.makePublisher()
            try await publisher.waitUntilReady(deadlineSeconds: 10)
            let count = 6000
            await bench.publish(count, to: queue)
            let consumer = bench.makeConsumer(queue)
            bench.acknowledgeImmediately(consumer)
            var pauses = 0
            while bench.deliveries.count < count, pauses < 100 {
                let seen = bench.deliveries.count
                await bench.wait("deliveries") { bench.deliveries.count > min(seen + 100, count - 1) }
                guard bench.deliveries.count > seen else { break }
                if isDrain {
                    await consumer.stopConsuming(deadlineSeconds: 10)
                } else {
                    consumer.pause()
                    await bench.loop.sleep(for: .milliseconds(100))
                }
                pauses += 1
                consumer.resume()
            }
            await bench.wait("all") { Set(bench.deliveries.map(\.properties.messageID)).count == count }
            #expect(pauses >= 3)
            // A broker that is busy for longer than the quiescence period may have some deliveries in transit.
            // Without quiescence, each pause would cause hundreds of failed deliveries.
            #expect(bench.deliveries.count { $0.deliveryCount > 0 } <= count / 40)
            #expect(bench.deliveries.count == count)
            await consumer.close()
            await publisher.close()
            await admin.close()
        }
    }
}
