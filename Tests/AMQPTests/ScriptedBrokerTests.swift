import AMQP
import EventLoop
import TestKit
import Testing

/// Behavior of RabbitMQ that the worker relies on, as the scripted broker reproduces it.
@Suite struct ScriptedBrokerTests {
    @Test func aRetryQueueReturnsMessagesAfterItsDelay() {
        AMQPHarness.play { harness in
            harness.broker.declareQueue("in")
            harness.broker.declareQueue(
                "retry.5s",
                arguments: [
                    "x-message-ttl": 5000, "x-dead-letter-exchange": "", "x-dead-letter-routing-key": "in",
                ])
            harness.broker.publish(routingKey: "retry.5s", messageID: "a", headers: ["push-attempt": 1], body: [1])
            await harness.pass(.milliseconds(4990))
            #expect(harness.broker.queue("in")?.ready.isEmpty == true)
            harness.broker.publish(routingKey: "retry.5s", messageID: "b", body: [2])
            await harness.pass(.milliseconds(20))
            #expect(harness.broker.queue("in")?.ready.map(\.body) == [[1]])
            let message = try #require(harness.broker.queue("in")?.ready.first)
            #expect(message.properties.messageID == "a")
            #expect(message.properties.header("push-attempt") == 1)
            #expect(message.properties.header("x-first-death-queue") == "retry.5s")
            guard case .array(let deaths) = message.properties.header("x-death"), case .table(let death) = deaths.first
            else { return fail("the message has no x-death header") }
            #expect(death["queue"] == "retry.5s")
            #expect(death["reason"] == "expired")
            #expect(death["count"] == 1)
            await harness.pass(.seconds(5))
            #expect(harness.broker.queue("in")?.ready.map(\.body) == [[1], [2]])
            #expect(harness.broker.dropped.isEmpty)
        }
    }

    // A message expires only at the head of its queue. The message's own expiration no longer applies in the next
    // queue.
    @Test func aMessageMayExpireBeforeTheLimitOfItsQueue() {
        AMQPHarness.play { harness in
            try harness.broker.start()
            harness.broker.declareQueue("in", arguments: ["x-message-ttl": 60_000])
            harness.broker.declareQueue(
                "wait",
                arguments: [
                    "x-message-ttl": 5000, "x-dead-letter-exchange": "", "x-dead-letter-routing-key": "in",
                ])
            let publisher = harness.makePublisher()
            await harness.pass(.seconds(1))
            let times: [(String, Int64?)] = [("a", 1000), ("b", 2000), ("c", 1500), ("d", nil), ("e", 9000)]
            for (text, milliseconds) in times {
                var message = OutgoingMessage(
                    exchange: "", routingKey: "wait", body: Array(text.utf8), messageID: text,
                    headers: ["push-attempt": 1])
                message.expirationMilliseconds = milliseconds
                _ = await publisher.publish(message)
            }
            await harness.pass(.milliseconds(1100))
            #expect(harness.texts(in: "in") == ["a"])
            await harness.pass(.milliseconds(600))
            #expect(harness.texts(in: "in") == ["a"])
            await harness.pass(.milliseconds(400))
            #expect(harness.texts(in: "in") == ["a", "b", "c"])
            await harness.pass(.seconds(3))
            #expect(harness.texts(in: "in") == ["a", "b", "c", "d", "e"])
            let message = try #require(harness.broker.queue("in")?.ready.first)
            #expect(message.properties.expiration == nil && message.properties.messageID == "a")
            #expect(message.properties.header("push-attempt") == 1)
        }
    }

    @Test func aMessageThatExpiresInACycleIsDropped() {
        AMQPHarness.play { harness in
            harness.broker.declareQueue(
                "in",
                arguments: ["x-message-ttl": 10, "x-dead-letter-exchange": "", "x-dead-letter-routing-key": "retry"])
            harness.broker.declareQueue(
                "retry",
                arguments: ["x-message-ttl": 10, "x-dead-letter-exchange": "", "x-dead-letter-routing-key": "in"])
            harness.broker.publish(routingKey: "in", messageID: "a", body: [1])
            await harness.pass(.seconds(1))
            #expect(harness.broker.dropped.count == 1)
            #expect(harness.texts(in: "in") == [])
            #expect(harness.texts(in: "retry") == [])
        }
    }

    @Test func tooManyFailedDeliveriesMakeADeadLetter() {
        AMQPHarness.play { harness in
            try harness.broker.start()
            harness.broker.declareQueue("dead")
            harness.broker.declareQueue(
                "in",
                arguments: [
                    "x-delivery-limit": 2, "x-dead-letter-exchange": "", "x-dead-letter-routing-key": "dead",
                ])
            harness.fill(["a"])
            let consumer = harness.makeConsumer()
            for count in 1...3 {
                await harness.wait("delivery") { harness.deliveries.count == count }
                consumer.reject(harness.deliveries[count - 1].tag, requeue: true)
            }
            await harness.wait("dead letter") { harness.texts(in: "dead") == ["a"] }
            #expect(harness.deliveries.map { $0.properties.header("x-delivery-count") } == [nil, 1, 2])
            await consumer.close()
        }
    }

    @Test(arguments: [
        ("a.b", "a.b", true), ("a.*", "a.b", true), ("a.*", "a.b.c", false), ("a.#", "a", true), ("a.#", "a.b.c", true),
        ("#", "", true), ("#.c", "a.b.c", true), ("#.b.#", "a.b.c", true), ("*", "", true), ("*.*", "a", false),
        ("a.#.d", "a.d", true), ("a.#.d", "a.b.c.e", false),
    ])
    func topicsMatchByWords(pattern: String, key: String, matches: Bool) {
        AMQPHarness.play { harness in
            harness.broker.declareExchange("x", .topic)
            harness.broker.declareQueue("q")
            harness.broker.bindQueue("q", toExchange: "x", routingKey: pattern)
            #expect(harness.broker.publish(exchange: "x", routingKey: key, body: []) == (matches ? 1 : 0))
        }
    }

    @Test func unroutedMessagesGoToTheAlternateExchange() {
        AMQPHarness.play { harness in
            harness.broker.declareExchange("rest", .fanout)
            harness.broker.declareExchange("x", .direct, arguments: ["alternate-exchange": "rest"])
            harness.broker.declareQueue("q")
            harness.broker.declareQueue("unrouted")
            harness.broker.bindQueue("q", toExchange: "x", routingKey: "k")
            harness.broker.bindQueue("q", toExchange: "x", routingKey: "k")
            harness.broker.bindQueue("unrouted", toExchange: "rest", routingKey: "")
            #expect(harness.broker.publish(exchange: "x", routingKey: "k", body: [1]) == 1)
            #expect(harness.broker.publish(exchange: "x", routingKey: "other", body: [2]) == 1)
            #expect(harness.broker.queue("q")?.ready.map(\.body) == [[1]])
            #expect(harness.broker.queue("unrouted")?.ready.map(\.body) == [[2]])
        }
    }

    @Test func consumersAlternateAndMessagesOfADeadOneComeFirst() {
        AMQPHarness.play { harness in
            try harness.broker.start()
            harness.broker.declareQueue("in")
            let first = harness.makeConsumer(prefetch: 2)
            try await first.waitUntilReady(deadlineSeconds: 10)
            harness.fill(["a", "b", "c", "d"])
            await harness.wait("deliveries") { harness.deliveries.count == 2 }
            await first.close()
            #expect(harness.texts(in: "in") == ["a", "b", "c", "d"])
            #expect(harness.broker.queue("in")?.ready.map(\.deliveryCount) == [1, 1, 0, 0])
        }
    }

    @Test func aWaitQueueWithoutAKeyReturnsMessagesToTheirQueues() {
        AMQPHarness.play { harness in
            for queue in ["urgent", "bulk", "wait"] {
                let isWait = queue == "wait"
                harness.broker.declareQueue(
                    queue, arguments: isWait ? ["x-message-ttl": 1000, "x-dead-letter-exchange": ""] : [:])
            }
            harness.broker.declareExchange("wait", .fanout)
            harness.broker.bindQueue("wait", toExchange: "wait", routingKey: "")
            harness.broker.publish(exchange: "wait", routingKey: "urgent", body: [1])
            harness.broker.publish(exchange: "wait", routingKey: "bulk", body: [2])
            harness.broker.publish(exchange: "wait", routingKey: "gone", body: [3])
            #expect(harness.broker.queue("wait")?.ready.count == 3)
            await harness.pass(.seconds(2))
            #expect(harness.broker.queue("urgent")?.ready.map(\.body) == [[1]])
            #expect(harness.broker.queue("bulk")?.ready.map(\.body) == [[2]])
            #expect(harness.broker.dropped.map(\.body) == [[3]])
        }
    }

    // RabbitMQ's quorum queues requeue deliveries in transit in front of all waiting messages.
    @Test func deliveriesInTransitToACanceledConsumerAreRequeuedAndCounted() {
        AMQPHarness.play { harness in
            try harness.broker.start()
            harness.broker.declareQueue("in")
            harness.broker.behavior.deliveryDelay = .seconds(1)
            harness.fill(["a", "b", "c"])
            let consumer = harness.makeConsumer(prefetch: 2)
            await harness.wait("consumer") { harness.broker.queue("in")?.unsettled == 2 }
            await consumer.stopConsuming(deadlineSeconds: 0)
            await harness.pass(.seconds(2))
            #expect(harness.deliveries.isEmpty)
            #expect(harness.texts(in: "in") == ["a", "b", "c"])
            #expect(harness.broker.queue("in")?.ready.map(\.deliveryCount) == [1, 1, 0])
            #expect(harness.broker.queue("in")?.unsettled == 0)
            consumer.resume()
            await harness.wait("consumer") { harness.broker.queue("in")?.unsettled == 2 }
            harness.loop.network.connections[0].cut()
            await harness.wait("loss") { harness.broker.queue("in")?.unsettled == 0 }
            #expect(harness.texts(in: "in") == ["a", "b", "c"])
            await consumer.close()
        }
    }

    @Test func oneConsumerIsActiveAndTheNextReplacesIt() {
        AMQPHarness.play { harness in
            try harness.broker.start()
            harness.broker.declareQueue("in", arguments: ["x-single-active-consumer": true])
            let connection = harness.makeConnection()
            let first = harness.makeConsumer("in", prefetch: 1, on: connection)
            try await first.waitUntilReady(deadlineSeconds: 10)
            let second = harness.makeConsumer("in", prefetch: 1, on: connection)
            try await second.waitUntilReady(deadlineSeconds: 10)
            harness.fill(["a", "b", "c"])
            await harness.pass(.seconds(5))
            #expect(harness.deliveredTexts == ["a"])
            #expect(first.unsettledCount == 1)
            await first.close()
            await harness.wait("the other") { harness.deliveries.count == 2 }
            #expect(harness.deliveredTexts == ["a", "a"])
            #expect(harness.deliveries[1].deliveryCount == 1)
            second.pause()
            await harness.wait("cancelled") { harness.broker.queue("in")?.consumerCount == 0 }
            await connection.close()
        }
    }
}
