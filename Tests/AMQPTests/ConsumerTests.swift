import AMQP
import EventLoop
import TestKit
import Testing

@Suite struct ConsumerTests {
    @Test func whatIsAcknowledgedLeavesTheQueue() {
        Scene.play { scene in
            try scene.broker.start()
            scene.broker.declareQueue("in")
            scene.fill(["a", "b", "c"])
            let consumer = scene.makeConsumer()
            await scene.wait("deliveries") { scene.deliveries.count == 3 }
            #expect(scene.deliveredTexts == ["a", "b", "c"])
            #expect(scene.deliveries.map(\.isRedelivered) == [false, false, false])
            #expect(scene.deliveries[0].queue == "in")
            #expect(scene.deliveries[0].routingKey == "in")
            #expect(scene.deliveries[0].properties.messageID == "a")
            #expect(consumer.unsettledCount == 3)
            #expect(consumer.bodyBytesInFlight == scene.deliveries.reduce(0) { $0 + Int($1.tag.bytes) })
            #expect(consumer.bodyBytesInFlight > 3)
            for delivery in scene.deliveries { consumer.acknowledge(delivery.tag) }
            await scene.wait("acks") { scene.broker.queue("in")?.unsettled == 0 }
            #expect(consumer.unsettledCount == 0)
            #expect(consumer.bodyBytesInFlight == 0)
            await consumer.close()
            #expect(scene.texts(in: "in") == [])
            #expect(scene.states == ["consumer connecting", "consumer ready", "consumer closed"])
            #expect(scene.broker.connectionCount == 0)
        }
    }

    /// Who closes the channel next has to know whether what was acknowledged is gone.
    @Test(arguments: ["answers", "is silent", "closes the connection"], [false, true])
    func whetherAcknowledgementsAreAppliedIsToldAtTheEnd(theBroker: String, wasStopped: Bool) {
        Scene.play { scene in
            try scene.broker.start()
            scene.broker.declareQueue("in")
            scene.fill(["a", "b"])
            let consumer = scene.makeConsumer()
            await scene.wait("deliveries") { scene.deliveries.count == 2 }
            if wasStopped { await consumer.stopConsuming() }
            for delivery in scene.deliveries { consumer.acknowledge(delivery.tag) }
            switch theBroker {
            case "is silent": scene.broker.setSilent(true)
            case "closes the connection":
                scene.loop.schedule(after: .zero) { scene.assumeIsolated { $0.broker.closeConnections() } }
            default: break
            }
            let isSettled = await consumer.untilSettled(by: scene.loop.now.monotonic + .seconds(10))
            #expect(isSettled == (theBroker == "answers"))
        }
    }

    /// RabbitMQ keeps back what follows many settlements until they are applied.
    @Test(arguments: ["reject", "requeue"]) func manySettlementsAreGivenTheirTime(how: String) {
        Scene.play { scene in
            try scene.broker.start()
            scene.broker.declareQueue("in")
            scene.fill((0..<33).map { "\($0)" })
            let consumer = scene.makeConsumer(prefetch: 100)
            await scene.wait("deliveries") { scene.deliveries.count == 33 }
            await consumer.stopConsuming()
            let start = scene.loop.now.monotonic
            for tag in scene.deliveries.map(\.tag) {
                if how == "reject" { consumer.reject(tag, requeue: false) } else { consumer.requeue(tag) }
            }
            #expect(await !consumer.untilSettled(by: start + .seconds(1)), "some may be kept back still")
            #expect(await consumer.untilSettled(by: start + .seconds(2)))
            #expect(start.duration(to: scene.loop.now.monotonic) >= .seconds(2))
            await consumer.close()
        }
    }

    @Test func whatIsDoneBehindAnOpenDeliveryLeavesAfterItsTime() {
        Scene.play { scene in
            try scene.broker.start()
            scene.broker.declareQueue("in")
            scene.fill(["open", "b", "c"])
            let consumer = scene.makeConsumer(prefetch: 100)
            await scene.wait("deliveries") { scene.deliveries.count == 3 }
            for (delivery, left) in [(scene.deliveries[1], 2), (scene.deliveries[2], 1)] {
                let start = scene.loop.now.monotonic
                consumer.acknowledge(delivery.tag)
                await scene.wait("ack") { scene.broker.queue("in")?.unsettled == left }
                let waited = start.duration(to: scene.loop.now.monotonic)
                #expect(waited >= .milliseconds(250) && waited < .milliseconds(300))
            }
            await consumer.close()
        }
    }

    @Test func thePrefetchHolds() {
        Scene.play { scene in
            try scene.broker.start()
            scene.broker.declareQueue("in")
            scene.fill((0..<20).map { "\($0)" })
            let consumer = scene.makeConsumer(prefetch: 5)
            await scene.pass(.seconds(5))
            #expect(scene.deliveries.count == 5)
            consumer.acknowledge(scene.deliveries[2].tag)
            await scene.pass(.seconds(5))
            #expect(scene.deliveries.count == 6)
            await consumer.close()
        }
    }

    @Test func rejectedGoToTheDeadLettersAndReleasedComeBack() {
        Scene.play { scene in
            try scene.broker.start()
            scene.broker.declareExchange("dlx", .fanout)
            scene.broker.declareQueue("dead")
            scene.broker.bindQueue("dead", toExchange: "dlx", routingKey: "")
            scene.broker.declareQueue("in", arguments: ["x-dead-letter-exchange": "dlx"])
            scene.fill(["bad", "kept", "again"])
            let consumer = scene.makeConsumer()
            await scene.wait("deliveries") { scene.deliveries.count == 3 }
            consumer.reject(scene.deliveries[0].tag, requeue: false)
            consumer.requeue(scene.deliveries[1].tag)
            consumer.reject(scene.deliveries[2].tag, requeue: true)
            await scene.wait("redeliveries") { scene.deliveries.count == 5 }
            #expect(scene.deliveredTexts.suffix(2) == ["kept", "again"])
            #expect(scene.deliveries.suffix(2).map(\.isRedelivered) == [true, true])
            #expect(scene.texts(in: "dead") == ["bad"])
            await consumer.close()
        }
    }

    @Test func aLostConnectionBringsTheMessagesBackAndOldTagsAreHarmless() {
        Scene.play { scene in
            try scene.broker.start()
            scene.broker.declareQueue("in")
            scene.fill(["a", "b"])
            let consumer = scene.makeConsumer()
            await scene.wait("deliveries") { scene.deliveries.count == 2 }
            consumer.acknowledge(scene.deliveries[0].tag)
            scene.loop.network.connections[0].cut()
            await scene.wait("redeliveries") { scene.deliveries.count >= 4 }
            #expect(scene.deliveredTexts == ["a", "b", "a", "b"], "the acknowledgement was not on the wire yet")
            // What came first on this connection has the same number as what came first on the other.
            consumer.acknowledge(scene.deliveries[1].tag)
            consumer.reject(scene.deliveries[1].tag, requeue: false)
            consumer.requeue(scene.deliveries[1].tag)
            #expect(consumer.staleSettlements == 3)
            #expect(consumer.unsettledCount == 2)
            consumer.acknowledge(scene.deliveries[2].tag)
            consumer.acknowledge(scene.deliveries[3].tag)
            consumer.acknowledge(scene.deliveries[3].tag)
            #expect(consumer.staleSettlements == 4)
            await scene.pass(.seconds(1))
            await consumer.close()
            #expect(scene.texts(in: "in") == [])
        }
    }

    @Test func aBrokerThatStartsLateIsWaitedFor() {
        Scene.play { scene in
            let consumer = scene.makeConsumer()
            await scene.pass(.seconds(60))
            #expect(scene.states.filter { $0 == "consumer waiting: cannotConnect" }.count > 3)
            scene.broker.declareQueue("in")
            scene.fill(["a"])
            try scene.broker.start()
            await scene.wait("delivery") { scene.deliveries.count == 1 }
            #expect(consumer.status == .ready)
            #expect(consumer.serverProperties["product"] == "ScriptedBroker")
            await consumer.close()
        }
    }

    @Test func aQueueThatDoesNotExistYetIsWaitedFor() {
        Scene.play { scene in
            try scene.broker.start()
            let consumer = scene.makeConsumer()
            await scene.wait("refusal") { scene.states.contains("consumer waiting: notFound") }
            guard case .waiting(let error, _) = consumer.status else { return fail("not waiting") }
            #expect(error.replyCode == 404)
            #expect(error.message == "queue in is missing")
            scene.broker.declareQueue("in")
            scene.fill(["a"])
            await scene.wait("delivery") { scene.deliveries.count == 1 }
            #expect(scene.loop.network.connections.count == 1, "only the channel was opened again")
            await consumer.close()
        }
    }

    @Test func aQueueThatIsDeletedIsConsumedAgainWhenItIsBack() {
        Scene.play { scene in
            try scene.broker.start()
            scene.broker.declareQueue("in")
            let consumer = scene.makeConsumer()
            await scene.wait("ready") { consumer.status == .ready }
            scene.broker.deleteQueue("in")
            await scene.wait("cancel") { scene.states.contains("consumer waiting: consumerCancelled") }
            await scene.pass(.seconds(10))
            scene.broker.declareQueue("in")
            scene.fill(["a"])
            await scene.wait("delivery") { scene.deliveries.count == 1 }
            await consumer.close()
        }
    }

    @Test func aRefusedLoginIsSaidAndTriedSlowly() {
        Scene.play { scene in
            scene.connection.credentials.password = "wr0ng"
            try scene.broker.start()
            scene.broker.declareQueue("in")
            let consumer = scene.makeConsumer()
            let start = scene.loop.now.monotonic
            for _ in 0..<2 {
                await #expect(throws: AMQPError.self) { try await consumer.waitUntilReady(deadlineSeconds: 600) }
            }
            #expect(start.duration(to: scene.loop.now.monotonic) < .seconds(1))
            guard case .waiting(let error, let delay) = consumer.connection.status else { return fail("not waiting") }
            #expect(error.code == .accessRefused)
            #expect(!error.isRetriable)
            #expect(error.message.contains("Login was refused"))
            #expect(!String(reflecting: error).contains("wr0ng"))
            #expect(delay >= .seconds(15))
            scene.broker.behaviour.credentials.password = "wr0ng"
            await scene.wait("login") { consumer.status == .ready }
            await consumer.close()
        }
    }

    @Test func aMissingVirtualHostIsSaid() {
        Scene.play { scene in
            scene.connection.virtualHost = "elsewhere"
            try scene.broker.start()
            let consumer = scene.makeConsumer()
            await scene.wait("refusal") { scene.states.contains("consumer waiting: notFound") }
            guard case .waiting(let error, _) = consumer.connection.status else { return fail("not waiting") }
            #expect(error.replyCode == 530)
            #expect(error.message.contains("elsewhere"))
            await consumer.close()
        }
    }

    @Test func aVirtualHostThatNoBrokerCanHaveIsSaidAtOnce() {
        Scene.play { scene in
            scene.connection.virtualHost = String(repeating: "v", count: 256)
            try scene.broker.start()
            let consumer = scene.makeConsumer()
            let start = scene.loop.now.monotonic
            let error = await #expect(throws: AMQPError.self) {
                try await consumer.waitUntilReady(deadlineSeconds: 600)
            }
            #expect(error?.code == .invalidURL)
            #expect(start.duration(to: scene.loop.now.monotonic) < .seconds(1))
            await consumer.close()
        }
    }

    @Test func aQueueThatNoBrokerCanHaveIsSaidAtOnce() {
        Scene.play { scene in
            try scene.broker.start()
            let consumer = scene.makeConsumer(String(repeating: "q", count: 256))
            let error = await #expect(throws: AMQPError.self) {
                try await consumer.waitUntilReady(deadlineSeconds: 10)
            }
            #expect(error?.code == .preconditionFailed)
            #expect(error?.isRetriable == false)
            await consumer.close()
        }
    }

    @Test func aSilentBrokerIsLeftAfterTwoHeartbeats() {
        Scene.play { scene in
            try scene.broker.start()
            scene.broker.declareQueue("in")
            let consumer = scene.makeConsumer()
            await scene.wait("ready") { consumer.status == .ready }
            await scene.pass(.seconds(3600))
            #expect(scene.loop.network.connections.count == 1, "heartbeats keep an idle connection")
            let start = scene.loop.now.monotonic
            scene.broker.setSilent(true)
            await scene.wait("loss") { scene.states.contains("consumer waiting: timedOut") }
            let seconds = start.duration(to: scene.loop.now.monotonic) / .seconds(1)
            #expect(seconds > 30 && seconds < 91, "\(seconds)")
            await scene.wait("again") { consumer.status == .ready }
            await consumer.close()
        }
    }

    @Test func aBrokerThatNeverAnswersTheLoginIsGivenUp() {
        Scene.play { scene in
            let listener = try scene.loop.listen(on: Endpoint(host: "broker", port: 5672)) {
                $0.handler = ByteStreamHandler()
            }
            let consumer = scene.makeConsumer()
            await scene.wait("time-out") { scene.states.contains("consumer waiting: timedOut") }
            listener.close()
            scene.broker.declareQueue("in")
            try scene.broker.start()
            await scene.wait("ready") { consumer.status == .ready }
            await consumer.close()
        }
    }

    @Test func aBrokerThatGoesDownInOrderIsAnswered() {
        Scene.play { scene in
            try scene.broker.start()
            scene.broker.declareQueue("in")
            let consumer = scene.makeConsumer()
            await scene.wait("ready") { consumer.status == .ready }
            scene.broker.shutDown()
            await scene.wait("loss") { scene.states.contains("consumer waiting: connectionForced") }
            #expect(scene.broker.connectionCount == 0)
            try scene.broker.start()
            await scene.wait("again") { consumer.status == .ready }
            await consumer.close()
        }
    }

    @Test func whatADeletedQueueDeliveredIsSettledWithoutHarm() {
        Scene.play { scene in
            try scene.broker.start()
            scene.broker.declareQueue("in")
            scene.fill(["a", "b", "c"])
            let consumer = scene.makeConsumer()
            await scene.wait("deliveries") { scene.deliveries.count == 3 }
            scene.broker.deleteQueue("in")
            await scene.wait("cancel") { scene.states.contains("consumer waiting: consumerCancelled") }
            scene.broker.declareQueue("in")
            consumer.acknowledge(scene.deliveries[0].tag)
            consumer.requeue(scene.deliveries[1].tag)
            consumer.reject(scene.deliveries[2].tag, requeue: false)
            await scene.wait("ready") { consumer.status == .ready }
            scene.fill(["d"])
            await scene.wait("delivery") { scene.deliveries.count == 4 }
            #expect(scene.deliveredTexts == ["a", "b", "c", "d"])
            #expect(!scene.deliveries[3].isRedelivered)
            #expect(scene.broker.logins == 1)
            await consumer.close()
        }
    }
}
