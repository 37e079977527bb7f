import AMQP
import EventLoop
import TestKit
import Testing

/// The scripted broker does what RabbitMQ does where the worker relies on it.
@Suite struct ScriptedBrokerTests {
    @Test func aRetryQueueGivesMessagesBackAfterItsTime() {
        Scene.play { scene in
            scene.broker.declareQueue("in")
            scene.broker.declareQueue(
                "retry.5s",
                arguments: [
                    "x-message-ttl": 5000, "x-dead-letter-exchange": "", "x-dead-letter-routing-key": "in",
                ])
            scene.broker.publish(routingKey: "retry.5s", messageID: "a", headers: ["push-attempt": 1], body: [1])
            await scene.pass(.milliseconds(4990))
            #expect(scene.broker.queue("in")?.ready.isEmpty == true)
            scene.broker.publish(routingKey: "retry.5s", messageID: "b", body: [2])
            await scene.pass(.milliseconds(20))
            #expect(scene.broker.queue("in")?.ready.map(\.body) == [[1]])
            let message = try #require(scene.broker.queue("in")?.ready.first)
            #expect(message.properties.messageID == "a")
            #expect(message.properties.header("push-attempt") == 1)
            #expect(message.properties.header("x-first-death-queue") == "retry.5s")
            guard case .array(let deaths) = message.properties.header("x-death"), case .table(let death) = deaths.first
            else { return fail("no x-death") }
            #expect(death["queue"] == "retry.5s")
            #expect(death["reason"] == "expired")
            #expect(death["count"] == 1)
            await scene.pass(.seconds(5))
            #expect(scene.broker.queue("in")?.ready.map(\.body) == [[1], [2]])
            #expect(scene.broker.dropped.isEmpty)
        }
    }

    /// At the head of its queue alone, and not again where it goes.
    @Test func aMessageMayLeaveEarlierThanItsQueueSays() {
        Scene.play { scene in
            try scene.broker.start()
            scene.broker.declareQueue("in", arguments: ["x-message-ttl": 60_000])
            scene.broker.declareQueue(
                "wait",
                arguments: [
                    "x-message-ttl": 5000, "x-dead-letter-exchange": "", "x-dead-letter-routing-key": "in",
                ])
            let publisher = scene.makePublisher()
            await scene.pass(.seconds(1))
            let times: [(String, Int64?)] = [("a", 1000), ("b", 2000), ("c", 1500), ("d", nil), ("e", 9000)]
            for (text, milliseconds) in times {
                var message = OutgoingMessage(
                    exchange: "", routingKey: "wait", body: Array(text.utf8), messageID: text,
                    headers: ["push-attempt": 1])
                message.expirationMilliseconds = milliseconds
                _ = await publisher.publish(message)
            }
            await scene.pass(.milliseconds(1100))
            #expect(scene.texts(in: "in") == ["a"])
            await scene.pass(.milliseconds(600))
            #expect(scene.texts(in: "in") == ["a"])
            await scene.pass(.milliseconds(400))
            #expect(scene.texts(in: "in") == ["a", "b", "c"])
            await scene.pass(.seconds(3))
            #expect(scene.texts(in: "in") == ["a", "b", "c", "d", "e"])
            let message = try #require(scene.broker.queue("in")?.ready.first)
            #expect(message.properties.expiration == nil && message.properties.messageID == "a")
            #expect(message.properties.header("push-attempt") == 1)
        }
    }

    @Test func aMessageThatExpiresInACircleIsDropped() {
        Scene.play { scene in
            scene.broker.declareQueue(
                "in",
                arguments: ["x-message-ttl": 10, "x-dead-letter-exchange": "", "x-dead-letter-routing-key": "retry"])
            scene.broker.declareQueue(
                "retry",
                arguments: ["x-message-ttl": 10, "x-dead-letter-exchange": "", "x-dead-letter-routing-key": "in"])
            scene.broker.publish(routingKey: "in", messageID: "a", body: [1])
            await scene.pass(.seconds(1))
            #expect(scene.broker.dropped.count == 1)
            #expect(scene.texts(in: "in") == [])
            #expect(scene.texts(in: "retry") == [])
        }
    }

    @Test func tooManyVainDeliveriesMakeADeadLetter() {
        Scene.play { scene in
            try scene.broker.start()
            scene.broker.declareQueue("dead")
            scene.broker.declareQueue(
                "in",
                arguments: [
                    "x-delivery-limit": 2, "x-dead-letter-exchange": "", "x-dead-letter-routing-key": "dead",
                ])
            scene.fill(["a"])
            let consumer = scene.makeConsumer()
            for count in 1...3 {
                await scene.wait("delivery") { scene.deliveries.count == count }
                consumer.reject(scene.deliveries[count - 1].tag, requeue: true)
            }
            await scene.wait("dead letter") { scene.texts(in: "dead") == ["a"] }
            #expect(scene.deliveries.map { $0.properties.header("x-delivery-count") } == [nil, 1, 2])
            await consumer.close()
        }
    }

    @Test(arguments: [
        ("a.b", "a.b", true), ("a.*", "a.b", true), ("a.*", "a.b.c", false), ("a.#", "a", true), ("a.#", "a.b.c", true),
        ("#", "", true), ("#.c", "a.b.c", true), ("#.b.#", "a.b.c", true), ("*", "", true), ("*.*", "a", false),
        ("a.#.d", "a.d", true), ("a.#.d", "a.b.c.e", false),
    ])
    func topicsMatchByWords(pattern: String, key: String, matches: Bool) {
        Scene.play { scene in
            scene.broker.declareExchange("x", .topic)
            scene.broker.declareQueue("q")
            scene.broker.bindQueue("q", toExchange: "x", routingKey: pattern)
            #expect(scene.broker.publish(exchange: "x", routingKey: key, body: []) == (matches ? 1 : 0))
        }
    }

    @Test func whatNoBindingTakesGoesToTheAlternateExchange() {
        Scene.play { scene in
            scene.broker.declareExchange("rest", .fanout)
            scene.broker.declareExchange("x", .direct, arguments: ["alternate-exchange": "rest"])
            scene.broker.declareQueue("q")
            scene.broker.declareQueue("unrouted")
            scene.broker.bindQueue("q", toExchange: "x", routingKey: "k")
            scene.broker.bindQueue("q", toExchange: "x", routingKey: "k")
            scene.broker.bindQueue("unrouted", toExchange: "rest", routingKey: "")
            #expect(scene.broker.publish(exchange: "x", routingKey: "k", body: [1]) == 1)
            #expect(scene.broker.publish(exchange: "x", routingKey: "other", body: [2]) == 1)
            #expect(scene.broker.queue("q")?.ready.map(\.body) == [[1]])
            #expect(scene.broker.queue("unrouted")?.ready.map(\.body) == [[2]])
        }
    }

    @Test func consumersTakeTurnsAndMessagesOfADeadOneComeFirst() {
        Scene.play { scene in
            try scene.broker.start()
            scene.broker.declareQueue("in")
            let first = scene.makeConsumer(prefetch: 2)
            try await first.waitUntilReady(deadlineSeconds: 10)
            scene.fill(["a", "b", "c", "d"])
            await scene.wait("deliveries") { scene.deliveries.count == 2 }
            await first.close()
            #expect(scene.texts(in: "in") == ["a", "b", "c", "d"])
            #expect(scene.broker.queue("in")?.ready.map(\.deliveryCount) == [1, 1, 0, 0])
        }
    }

    @Test func aWaitQueueWithoutAKeyOfItsOwnGivesMessagesBackToWhereTheyCameFrom() {
        Scene.play { scene in
            for queue in ["urgent", "bulk", "wait"] {
                let isWait = queue == "wait"
                scene.broker.declareQueue(
                    queue, arguments: isWait ? ["x-message-ttl": 1000, "x-dead-letter-exchange": ""] : [:])
            }
            scene.broker.declareExchange("wait", .fanout)
            scene.broker.bindQueue("wait", toExchange: "wait", routingKey: "")
            scene.broker.publish(exchange: "wait", routingKey: "urgent", body: [1])
            scene.broker.publish(exchange: "wait", routingKey: "bulk", body: [2])
            scene.broker.publish(exchange: "wait", routingKey: "gone", body: [3])
            #expect(scene.broker.queue("wait")?.ready.count == 3)
            await scene.pass(.seconds(2))
            #expect(scene.broker.queue("urgent")?.ready.map(\.body) == [[1]])
            #expect(scene.broker.queue("bulk")?.ready.map(\.body) == [[2]])
            #expect(scene.broker.dropped.map(\.body) == [[3]])
        }
    }

    /// As RabbitMQ's quorum queues do, in front of all that wait.
    @Test func whatIsInTransitToACancelledConsumerComesBackAndCounts() {
        Scene.play { scene in
            try scene.broker.start()
            scene.broker.declareQueue("in")
            scene.broker.behaviour.deliveryDelay = .seconds(1)
            scene.fill(["a", "b", "c"])
            let consumer = scene.makeConsumer(prefetch: 2)
            await scene.wait("consumer") { scene.broker.queue("in")?.unsettled == 2 }
            await consumer.stopConsuming(deadlineSeconds: 0)
            await scene.pass(.seconds(2))
            #expect(scene.deliveries.isEmpty)
            #expect(scene.texts(in: "in") == ["a", "b", "c"])
            #expect(scene.broker.queue("in")?.ready.map(\.deliveryCount) == [1, 1, 0])
            #expect(scene.broker.queue("in")?.unsettled == 0)
            consumer.resume()
            await scene.wait("consumer") { scene.broker.queue("in")?.unsettled == 2 }
            scene.loop.network.connections[0].cut()
            await scene.wait("loss") { scene.broker.queue("in")?.unsettled == 0 }
            #expect(scene.texts(in: "in") == ["a", "b", "c"])
            await consumer.close()
        }
    }

    @Test func oneConsumerIsActiveAndTheNextTakesItsPlace() {
        Scene.play { scene in
            try scene.broker.start()
            scene.broker.declareQueue("in", arguments: ["x-single-active-consumer": true])
            let connection = scene.makeConnection()
            let first = scene.makeConsumer("in", prefetch: 1, on: connection)
            try await first.waitUntilReady(deadlineSeconds: 10)
            let second = scene.makeConsumer("in", prefetch: 1, on: connection)
            try await second.waitUntilReady(deadlineSeconds: 10)
            scene.fill(["a", "b", "c"])
            await scene.pass(.seconds(5))
            #expect(scene.deliveredTexts == ["a"])
            #expect(first.unsettledCount == 1)
            await first.close()
            await scene.wait("the other") { scene.deliveries.count == 2 }
            #expect(scene.deliveredTexts == ["a", "a"])
            #expect(scene.deliveries[1].deliveryCount == 1)
            second.pause()
            await scene.wait("cancelled") { scene.broker.queue("in")?.consumerCount == 0 }
            await connection.close()
        }
    }
}
