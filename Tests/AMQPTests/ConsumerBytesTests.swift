import AMQP
import EventLoop
import TestKit
import Testing

/// Oversized bodies, and the limit of bytes in flight.
@Suite struct ConsumerBytesTests {
    @Test func bodiesAboveTheLimitAreReportedAndDiscarded() {
        AMQPHarness.play { harness in
            try harness.broker.start()
            harness.broker.declareQueue("dead")
            harness.broker.declareQueue(
                "in", arguments: ["x-dead-letter-exchange": "", "x-dead-letter-routing-key": "dead"])
            let limit = 300_000
            let exact = [UInt8](repeating: 1, count: limit)
            let above = [UInt8](repeating: 2, count: limit + 1)
            harness.broker.publish(routingKey: "in", messageID: "exact", body: exact)
            harness.broker.publish(routingKey: "in", messageID: "above", body: above)
            harness.broker.publish(routingKey: "in", messageID: "empty", body: [])
            let consumer = harness.makeConsumer { $0.messageBytesMax = limit }
            await harness.wait("deliveries") { harness.deliveries.count == 3 }
            #expect(harness.deliveries.map(\.isOversized) == [false, true, false])
            #expect(harness.deliveries.map(\.bodySize) == [UInt64(limit), UInt64(limit + 1), 0])
            #expect(harness.deliveries[0].body == exact)
            #expect(harness.deliveries[1].body.isEmpty)
            #expect(harness.deliveries[1].properties.messageID == "above")
            #expect(consumer.bodyBytesInFlight > limit && consumer.bodyBytesInFlight < limit + 200)
            consumer.reject(harness.deliveries[1].tag, requeue: false)
            await harness.wait("dead letter") { harness.broker.queue("dead")?.ready.count == 1 }
            #expect(harness.broker.queue("dead")?.ready.first?.body == above)
            await consumer.close()
        }
    }

    @Test func tooManyBytesInFlightPauseReading() {
        AMQPHarness.play { harness in
            try harness.broker.start()
            harness.broker.declareQueue("in")
            for number in 0..<100 {
                harness.broker.publish(
                    routingKey: "in", messageID: "\(number)", body: .init(repeating: 7, count: 10_000))
            }
            let consumer = harness.makeConsumer(prefetch: 100) { $0.bodyBytesInFlightMax = 50_000 }
            await harness.pass(.seconds(120))
            let held = harness.deliveries.count
            #expect(held >= 5 && held < 20, "\(held)")
            #expect(consumer.status == .ready, "a connection with paused reading counted as silent")
            var settled = 0
            while settled < 100 {
                await harness.wait("delivery") { harness.deliveries.count > settled }
                #expect(consumer.bodyBytesInFlight <= 50_000 + 128 * 1024)
                consumer.acknowledge(harness.deliveries[settled].tag)
                settled += 1
            }
            #expect(consumer.bodyBytesInFlight == 0)
            #expect(harness.loop.network.connections.count == 1)
            await consumer.close()
        }
    }

    // The bodies are larger than one read, so reading stops exactly at the limit.
    @Test func readingResumesAtThreeQuartersOfTheLimit() {
        AMQPHarness.play { harness in
            try harness.broker.start()
            harness.broker.declareQueue("in")
            let body = [UInt8](repeating: 7, count: 300_000)
            harness.broker.publish(routingKey: "in", messageID: "0", body: body)
            let measuring = harness.makeConsumer()
            await harness.wait("delivery") { harness.deliveries.count == 1 }
            let bytes = measuring.bodyBytesInFlight
            measuring.acknowledge(harness.deliveries[0].tag)
            await measuring.close()
            for number in 1...5 { harness.broker.publish(routingKey: "in", messageID: "\(number)", body: body) }
            let consumer = harness.makeConsumer(prefetch: 100) { $0.bodyBytesInFlightMax = 4 * bytes }
            await harness.pass(.seconds(10))
            let limited = harness.deliveries.dropFirst()
            #expect(limited.count == 4 && consumer.bodyBytesInFlight == 4 * bytes)
            consumer.acknowledge(limited[1].tag)
            #expect(consumer.bodyBytesInFlight == 3 * bytes)
            await harness.wait("delivery", limit: .seconds(10)) { harness.deliveries.count == 6 }
            await consumer.close()
        }
    }

    @Test func theLimitAlsoAppliesAfterAReconnection() {
        AMQPHarness.play { harness in
            try harness.broker.start()
            harness.broker.declareQueue("in")
            for _ in 0..<100 { harness.broker.publish(routingKey: "in", body: .init(repeating: 7, count: 10_000)) }
            let consumer = harness.makeConsumer(prefetch: 100) { $0.bodyBytesInFlightMax = 50_000 }
            await harness.pass(.seconds(10))
            let held = harness.deliveries.count
            #expect(held >= 5 && held < 20, "\(held)")
            harness.loop.network.connections[0].cut()
            await harness.pass(.seconds(10))
            #expect(harness.broker.logins == 2)
            #expect(harness.deliveries.count > held && harness.deliveries.count < held + 20)
            await consumer.close()
        }
    }

    @Test func theBrokerHasTheWholeSilenceTimeoutAfterAPause() {
        AMQPHarness.play { harness in
            try harness.broker.start()
            harness.broker.declareQueue("in")
            harness.broker.publish(routingKey: "in", body: .init(repeating: 7, count: 50_000))
            let consumer = harness.makeConsumer { $0.bodyBytesInFlightMax = 50_000 }
            await harness.wait("delivery") { harness.deliveries.count == 1 }
            harness.broker.setSilent(true)
            await harness.pass(.seconds(120))
            consumer.acknowledge(harness.deliveries[0].tag)
            await harness.pass(.seconds(45))
            #expect(!harness.states.contains("consumer waiting: timedOut"))
            await harness.wait("loss", limit: .seconds(60)) { harness.states.contains("consumer waiting: timedOut") }
            await consumer.close()
        }
    }

    @Test func settlingFewBytesDoesNotResumeReading() {
        AMQPHarness.play { harness in
            try harness.broker.start()
            harness.broker.declareQueue("in")
            for number in 0..<120 {
                let size = number < 20 ? 10 : 10_000
                harness.broker.publish(routingKey: "in", messageID: "\(number)", body: .init(repeating: 7, count: size))
            }
            let consumer = harness.makeConsumer(prefetch: 120) { $0.bodyBytesInFlightMax = 50_000 }
            await harness.pass(.seconds(10))
            let held = harness.deliveries
            #expect(consumer.bodyBytesInFlight >= 50_000)
            for delivery in held[..<20] {
                consumer.acknowledge(delivery.tag)
                await harness.pass(.milliseconds(100))
            }
            #expect(harness.deliveries.count == held.count)
            for delivery in held[20...] { consumer.acknowledge(delivery.tag) }
            await harness.wait("more") { harness.deliveries.count > held.count }
            // The new deliveries pause reading again. The close resumes reading, so the broker's answer arrives.
            await harness.pass(.seconds(10))
            #expect(consumer.bodyBytesInFlight >= 50_000)
            let start = harness.loop.now.monotonic
            await consumer.close()
            #expect(start.duration(to: harness.loop.now.monotonic) < .seconds(1))
        }
    }

    @Test func aConsumerBelowItsLimitDoesNotResumeReadingForAnother() {
        AMQPHarness.play { harness in
            try harness.broker.start()
            harness.broker.declareQueue("in")
            harness.broker.declareQueue("large")
            let connection = harness.makeConnection()
            let little = harness.makeConsumer("in", on: connection)
            let much = harness.makeConsumer("large", prefetch: 100, on: connection) { $0.bodyBytesInFlightMax = 50_000 }
            harness.fill(["a"])
            await harness.wait("delivery") { little.unsettledCount == 1 }
            for _ in 0..<100 { harness.broker.publish(routingKey: "large", body: .init(repeating: 7, count: 10_000)) }
            await harness.pass(.seconds(10))
            let held = much.unsettledCount
            #expect(held >= 5 && held < 20, "\(held)")
            little.acknowledge(harness.deliveries[0].tag)
            await harness.pass(.seconds(10))
            #expect(much.unsettledCount == held)
        }
    }

    @Test func aDeliverySettledTwiceOrLateReleasesItsBytesOnce() {
        AMQPHarness.play { harness in
            try harness.broker.start()
            harness.broker.declareQueue("in")
            harness.fill(["a", "b"])
            let consumer = harness.makeConsumer()
            await harness.wait("deliveries") { harness.deliveries.count == 2 }
            for _ in 0..<3 {
                consumer.acknowledge(harness.deliveries[0].tag)
                consumer.reject(harness.deliveries[0].tag, requeue: true)
                consumer.requeue(harness.deliveries[0].tag)
            }
            #expect(consumer.staleSettlements == 8)
            #expect(consumer.bodyBytesInFlight == Int(harness.deliveries[1].tag.bytes))
            await harness.wait("ack") { harness.broker.queue("in")?.unsettled == 1 }
            harness.loop.network.connections[0].cut()
            await harness.wait("redelivery") { harness.deliveries.count == 3 }
            #expect(
                consumer.bodyBytesInFlight > Int(harness.deliveries[2].tag.bytes),
                "the bytes of the first delivery were released")
            consumer.acknowledge(harness.deliveries[1].tag)
            #expect(consumer.bodyBytesInFlight == Int(harness.deliveries[2].tag.bytes))
            consumer.acknowledge(harness.deliveries[2].tag)
            #expect(consumer.bodyBytesInFlight == 0)
            await harness.wait("ack") { harness.broker.queue("in")?.unsettled == 0 }
            await consumer.close()
        }
    }
}
