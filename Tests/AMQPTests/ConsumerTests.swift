import AMQP
import EventLoop
import TestKit
import Testing

@Suite struct ConsumerTests {
    @Test func acknowledgedMessagesLeaveTheQueue() {
        AMQPHarness.play { harness in
            try harness.broker.start()
            harness.broker.declareQueue("in")
            harness.fill(["a", "b", "c"])
            let consumer = harness.makeConsumer()
            await harness.wait("deliveries") { harness.deliveries.count == 3 }
            #expect(harness.deliveredTexts == ["a", "b", "c"])
            #expect(harness.deliveries.map(\.isRedelivered) == [false, false, false])
            #expect(harness.deliveries[0].queue == "in")
            #expect(harness.deliveries[0].routingKey == "in")
            #expect(harness.deliveries[0].properties.messageID == "a")
            #expect(consumer.unsettledCount == 3)
            #expect(consumer.bodyBytesInFlight == harness.deliveries.reduce(0) { $0 + Int($1.tag.bytes) })
            #expect(consumer.bodyBytesInFlight > 3)
            for delivery in harness.deliveries { consumer.acknowledge(delivery.tag) }
            await harness.wait("acks") { harness.broker.queue("in")?.unsettled == 0 }
            #expect(consumer.unsettledCount == 0)
            #expect(consumer.bodyBytesInFlight == 0)
            await consumer.close()
            #expect(harness.texts(in: "in") == [])
            #expect(harness.states == ["consumer connecting", "consumer ready", "consumer closed"])
            #expect(harness.broker.connectionCount == 0)
        }
    }

    // A caller that is about to close the channel needs to know whether all acknowledgments are applied.
    @Test(arguments: ["answers", "is silent", "closes the connection"], [false, true])
    func theCallerLearnsWhetherAcknowledgmentsAreApplied(theBroker: String, wasStopped: Bool) {
        AMQPHarness.play { harness in
            try harness.broker.start()
            harness.broker.declareQueue("in")
            harness.fill(["a", "b"])
            let consumer = harness.makeConsumer()
            await harness.wait("deliveries") { harness.deliveries.count == 2 }
            if wasStopped { await consumer.stopConsuming() }
            for delivery in harness.deliveries { consumer.acknowledge(delivery.tag) }
            switch theBroker {
            case "is silent": harness.broker.setSilent(true)
            case "closes the connection":
                harness.loop.schedule(after: .zero) { harness.assumeIsolated { $0.broker.closeConnections() } }
            default: break
            }
            let isSettled = await consumer.waitUntilSettled(by: harness.loop.now.monotonic + .seconds(10))
            #expect(isSettled == (theBroker == "answers"))
        }
    }

    // After many settlements, RabbitMQ buffers further settlements until the earlier settlements are applied.
    @Test(arguments: ["reject", "requeue"]) func manySettlementsNeedTimeToBeApplied(how: String) {
        AMQPHarness.play { harness in
            try harness.broker.start()
            harness.broker.declareQueue("in")
            harness.fill((0..<33).map { "\($0)" })
            let consumer = harness.makeConsumer(prefetch: 100)
            await harness.wait("deliveries") { harness.deliveries.count == 33 }
            await consumer.stopConsuming()
            let start = harness.loop.now.monotonic
            for tag in harness.deliveries.map(\.tag) {
                if how == "reject" { consumer.reject(tag, requeue: false) } else { consumer.requeue(tag) }
            }
            #expect(
                await !consumer.waitUntilSettled(by: start + .seconds(1)),
                "settlements that RabbitMQ may still hold counted as applied")
            #expect(await consumer.waitUntilSettled(by: start + .seconds(2)))
            #expect(start.duration(to: harness.loop.now.monotonic) >= .seconds(2))
            await consumer.close()
        }
    }

    @Test func acknowledgmentsBehindAnOpenDeliveryAreSentAfterTheDelay() {
        AMQPHarness.play { harness in
            try harness.broker.start()
            harness.broker.declareQueue("in")
            harness.fill(["open", "b", "c"])
            let consumer = harness.makeConsumer(prefetch: 100)
            await harness.wait("deliveries") { harness.deliveries.count == 3 }
            for (delivery, left) in [(harness.deliveries[1], 2), (harness.deliveries[2], 1)] {
                let start = harness.loop.now.monotonic
                consumer.acknowledge(delivery.tag)
                await harness.wait("ack") { harness.broker.queue("in")?.unsettled == left }
                let waited = start.duration(to: harness.loop.now.monotonic)
                #expect(waited >= .milliseconds(250) && waited < .milliseconds(300))
            }
            await consumer.close()
        }
    }

    @Test func thePrefetchLimitsDeliveries() {
        AMQPHarness.play { harness in
            try harness.broker.start()
            harness.broker.declareQueue("in")
            harness.fill((0..<20).map { "\($0)" })
            let consumer = harness.makeConsumer(prefetch: 5)
            await harness.pass(.seconds(5))
            #expect(harness.deliveries.count == 5)
            consumer.acknowledge(harness.deliveries[2].tag)
            await harness.pass(.seconds(5))
            #expect(harness.deliveries.count == 6)
            await consumer.close()
        }
    }

    @Test func rejectedMessagesAreDeadLetteredAndRequeuedOnesReturn() {
        AMQPHarness.play { harness in
            try harness.broker.start()
            harness.broker.declareExchange("dlx", .fanout)
            harness.broker.declareQueue("dead")
            harness.broker.bindQueue("dead", toExchange: "dlx", routingKey: "")
            harness.broker.declareQueue("in", arguments: ["x-dead-letter-exchange": "dlx"])
            harness.fill(["bad", "kept", "again"])
            let consumer = harness.makeConsumer()
            await harness.wait("deliveries") { harness.deliveries.count == 3 }
            consumer.reject(harness.deliveries[0].tag, requeue: false)
            consumer.requeue(harness.deliveries[1].tag)
            consumer.reject(harness.deliveries[2].tag, requeue: true)
            await harness.wait("redeliveries") { harness.deliveries.count == 5 }
            #expect(harness.deliveredTexts.suffix(2) == ["kept", "again"])
            #expect(harness.deliveries.suffix(2).map(\.isRedelivered) == [true, true])
            #expect(harness.texts(in: "dead") == ["bad"])
            await consumer.close()
        }
    }

    @Test func aLostConnectionRedeliversAndOldTagsAreHarmless() {
        AMQPHarness.play { harness in
            try harness.broker.start()
            harness.broker.declareQueue("in")
            harness.fill(["a", "b"])
            let consumer = harness.makeConsumer()
            await harness.wait("deliveries") { harness.deliveries.count == 2 }
            consumer.acknowledge(harness.deliveries[0].tag)
            harness.loop.network.connections[0].cut()
            await harness.wait("redeliveries") { harness.deliveries.count >= 4 }
            #expect(harness.deliveredTexts == ["a", "b", "a", "b"], "the broker did not redeliver both messages")
            // The second deliveries on both connections have the same delivery tag.
            consumer.acknowledge(harness.deliveries[1].tag)
            consumer.reject(harness.deliveries[1].tag, requeue: false)
            consumer.requeue(harness.deliveries[1].tag)
            #expect(consumer.staleSettlements == 3)
            #expect(consumer.unsettledCount == 2)
            consumer.acknowledge(harness.deliveries[2].tag)
            consumer.acknowledge(harness.deliveries[3].tag)
            consumer.acknowledge(harness.deliveries[3].tag)
            #expect(consumer.staleSettlements == 4)
            await harness.pass(.seconds(1))
            await consumer.close()
            #expect(harness.texts(in: "in") == [])
        }
    }

    @Test func theConsumerWaitsForABrokerThatStartsLate() {
        AMQPHarness.play { harness in
            let consumer = harness.makeConsumer()
            await harness.pass(.seconds(60))
            #expect(harness.states.filter { $0 == "consumer waiting: cannotConnect" }.count > 3)
            harness.broker.declareQueue("in")
            harness.fill(["a"])
            try harness.broker.start()
            await harness.wait("delivery") { harness.deliveries.count == 1 }
            #expect(consumer.status == .ready)
            #expect(consumer.serverProperties["product"] == "ScriptedBroker")
            await consumer.close()
        }
    }

    @Test func theConsumerWaitsForAMissingQueue() {
        AMQPHarness.play { harness in
            try harness.broker.start()
            let consumer = harness.makeConsumer()
            await harness.wait("refusal") { harness.states.contains("consumer waiting: notFound") }
            guard case .waiting(let error, _) = consumer.status else { return fail("the consumer is not waiting") }
            #expect(error.replyCode == 404)
            #expect(error.message == "queue in is missing")
            harness.broker.declareQueue("in")
            harness.fill(["a"])
            await harness.wait("delivery") { harness.deliveries.count == 1 }
            #expect(harness.loop.network.connections.count == 1, "the connection was opened again")
            await consumer.close()
        }
    }

    @Test func aDeletedQueueIsConsumedAgainOnceItExists() {
        AMQPHarness.play { harness in
            try harness.broker.start()
            harness.broker.declareQueue("in")
            let consumer = harness.makeConsumer()
            await harness.wait("ready") { consumer.status == .ready }
            harness.broker.deleteQueue("in")
            await harness.wait("cancel") { harness.states.contains("consumer waiting: consumerCancelled") }
            await harness.pass(.seconds(10))
            harness.broker.declareQueue("in")
            harness.fill(["a"])
            await harness.wait("delivery") { harness.deliveries.count == 1 }
            await consumer.close()
        }
    }

    @Test func aRefusedLoginIsReportedAndRetriedSlowly() {
        AMQPHarness.play { harness in
            harness.connection.credentials.password = "wr0ng"
            try harness.broker.start()
            harness.broker.declareQueue("in")
            let consumer = harness.makeConsumer()
            let start = harness.loop.now.monotonic
            for _ in 0..<2 {
                await #expect(throws: AMQPError.self) { try await consumer.waitUntilReady(deadlineSeconds: 600) }
            }
            #expect(start.duration(to: harness.loop.now.monotonic) < .seconds(1))
            guard case .waiting(let error, let delay) = consumer.connection.status else {
                return fail("the connection is not waiting")
            }
            #expect(error.code == .accessRefused)
            #expect(!error.isRetriable)
            #expect(error.message.contains("Login was refused"))
            #expect(!String(reflecting: error).contains("wr0ng"))
            #expect(delay >= .seconds(15))
            harness.broker.behavior.credentials.password = "wr0ng"
            await harness.wait("login") { consumer.status == .ready }
            await consumer.close()
        }
    }

    @Test func aMissingVirtualHostIsReported() {
        AMQPHarness.play { harness in
            harness.connection.virtualHost = "elsewhere"
            try harness.broker.start()
            let consumer = harness.makeConsumer()
            await harness.wait("refusal") { harness.states.contains("consumer waiting: notFound") }
            guard case .waiting(let error, _) = consumer.connection.status else {
                return fail("the connection is not waiting")
            }
            #expect(error.replyCode == 530)
            #expect(error.message.contains("elsewhere"))
            await consumer.close()
        }
    }

    @Test func anInvalidVirtualHostIsReportedImmediately() {
        AMQPHarness.play { harness in
            harness.connection.virtualHost = String(repeating: "v", count: 256)
            try harness.broker.start()
            let consumer = harness.makeConsumer()
            let start = harness.loop.now.monotonic
            let error = await #expect(throws: AMQPError.self) {
                try await consumer.waitUntilReady(deadlineSeconds: 600)
            }
            #expect(error?.code == .invalidURL)
            #expect(start.duration(to: harness.loop.now.monotonic) < .seconds(1))
            await consumer.close()
        }
    }

    @Test func anInvalidQueueNameIsReportedImmediately() {
        AMQPHarness.play { harness in
            try harness.broker.start()
            let consumer = harness.makeConsumer(String(repeating: "q", count: 256))
            let error = await #expect(throws: AMQPError.self) {
                try await consumer.waitUntilReady(deadlineSeconds: 10)
            }
            #expect(error?.code == .preconditionFailed)
            #expect(error?.isRetriable == false)
            await consumer.close()
        }
    }

    @Test func aSilentBrokerIsDisconnectedAfterTwoHeartbeats() {
        AMQPHarness.play { harness in
            try harness.broker.start()
            harness.broker.declareQueue("in")
            let consumer = harness.makeConsumer()
            await harness.wait("ready") { consumer.status == .ready }
            await harness.pass(.seconds(3600))
            #expect(harness.loop.network.connections.count == 1, "an idle connection was lost")
            let start = harness.loop.now.monotonic
            harness.broker.setSilent(true)
            await harness.wait("loss") { harness.states.contains("consumer waiting: timedOut") }
            let seconds = start.duration(to: harness.loop.now.monotonic) / .seconds(1)
            #expect(seconds > 30 && seconds < 91, "\(seconds)")
            await harness.wait("again") { consumer.status == .ready }
            await consumer.close()
        }
    }

    @Test func anUnansweredLoginTimesOut() {
        AMQPHarness.play { harness in
            let listener = try harness.loop.listen(on: Endpoint(host: "broker", port: 5672)) {
                $0.handler = ByteStreamHandler()
            }
            let consumer = harness.makeConsumer()
            await harness.wait("time-out") { harness.states.contains("consumer waiting: timedOut") }
            listener.close()
            harness.broker.declareQueue("in")
            try harness.broker.start()
            await harness.wait("ready") { consumer.status == .ready }
            await consumer.close()
        }
    }

    @Test func aGracefulShutdownOfTheBrokerIsAnswered() {
        AMQPHarness.play { harness in
            try harness.broker.start()
            harness.broker.declareQueue("in")
            let consumer = harness.makeConsumer()
            await harness.wait("ready") { consumer.status == .ready }
            harness.broker.shutDown()
            await harness.wait("loss") { harness.states.contains("consumer waiting: connectionForced") }
            #expect(harness.broker.connectionCount == 0)
            try harness.broker.start()
            await harness.wait("again") { consumer.status == .ready }
            await consumer.close()
        }
    }

    @Test func deliveriesOfADeletedQueueAreSettledWithoutHarm() {
        AMQPHarness.play { harness in
            try harness.broker.start()
            harness.broker.declareQueue("in")
            harness.fill(["a", "b", "c"])
            let consumer = harness.makeConsumer()
            await harness.wait("deliveries") { harness.deliveries.count == 3 }
            harness.broker.deleteQueue("in")
            await harness.wait("cancel") { harness.states.contains("consumer waiting: consumerCancelled") }
            harness.broker.declareQueue("in")
            consumer.acknowledge(harness.deliveries[0].tag)
            consumer.requeue(harness.deliveries[1].tag)
            consumer.reject(harness.deliveries[2].tag, requeue: false)
            await harness.wait("ready") { consumer.status == .ready }
            harness.fill(["d"])
            await harness.wait("delivery") { harness.deliveries.count == 4 }
            #expect(harness.deliveredTexts == ["a", "b", "c", "d"])
            #expect(!harness.deliveries[3].isRedelivered)
            #expect(harness.broker.logins == 1)
            await consumer.close()
        }
    }
}
