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
            #expect(consumer.state == .ready)
            #expect(consumer.serverProperties["product"] == "ScriptedBroker")
            await consumer.close()
        }
    }

    @Test func aQueueThatDoesNotExistYetIsWaitedFor() {
        Scene.play { scene in
            try scene.broker.start()
            let consumer = scene.makeConsumer()
            await scene.wait("refusal") { scene.states.contains("consumer waiting: notFound") }
            guard case .waiting(let error, _) = consumer.state else { return fail("not waiting") }
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
            await scene.wait("ready") { consumer.state == .ready }
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
            guard case .waiting(let error, let delay) = consumer.connection.state else { return fail("not waiting") }
            #expect(error.code == .accessRefused)
            #expect(!error.isRetriable)
            #expect(error.message.contains("Login was refused"))
            #expect(!String(reflecting: error).contains("wr0ng"))
            #expect(delay >= .seconds(15))
            scene.broker.behaviour.credentials.password = "wr0ng"
            await scene.wait("login") { consumer.state == .ready }
            await consumer.close()
        }
    }

    @Test func aMissingVirtualHostIsSaid() {
        Scene.play { scene in
            scene.connection.virtualHost = "elsewhere"
            try scene.broker.start()
            let consumer = scene.makeConsumer()
            await scene.wait("refusal") { scene.states.contains("consumer waiting: notFound") }
            guard case .waiting(let error, _) = consumer.connection.state else { return fail("not waiting") }
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

    @Test func bodiesAboveTheLimitAreToldWithoutBeingKept() {
        Scene.play { scene in
            try scene.broker.start()
            scene.broker.declareQueue("dead")
            scene.broker.declareQueue(
                "in", arguments: ["x-dead-letter-exchange": "", "x-dead-letter-routing-key": "dead"])
            let limit = 300_000
            let exact = [UInt8](repeating: 1, count: limit)
            let above = [UInt8](repeating: 2, count: limit + 1)
            scene.broker.publish(routingKey: "in", messageID: "exact", body: exact)
            scene.broker.publish(routingKey: "in", messageID: "above", body: above)
            scene.broker.publish(routingKey: "in", messageID: "empty", body: [])
            let consumer = scene.makeConsumer { $0.messageBytesMax = limit }
            await scene.wait("deliveries") { scene.deliveries.count == 3 }
            #expect(scene.deliveries.map(\.isOversized) == [false, true, false])
            #expect(scene.deliveries.map(\.bodySize) == [UInt64(limit), UInt64(limit + 1), 0])
            #expect(scene.deliveries[0].body == exact)
            #expect(scene.deliveries[1].body.isEmpty)
            #expect(scene.deliveries[1].properties.messageID == "above")
            #expect(consumer.bodyBytesInFlight > limit && consumer.bodyBytesInFlight < limit + 200)
            consumer.reject(scene.deliveries[1].tag, requeue: false)
            await scene.wait("dead letter") { scene.broker.queue("dead")?.ready.count == 1 }
            #expect(scene.broker.queue("dead")?.ready.first?.body == above)
            await consumer.close()
        }
    }

    @Test func tooManyBytesInFlightHoldUpTheBroker() {
        Scene.play { scene in
            try scene.broker.start()
            scene.broker.declareQueue("in")
            for number in 0..<100 {
                scene.broker.publish(routingKey: "in", messageID: "\(number)", body: .init(repeating: 7, count: 10_000))
            }
            let consumer = scene.makeConsumer(prefetch: 100) { $0.bodyBytesInFlightMax = 50_000 }
            await scene.pass(.seconds(120))
            let held = scene.deliveries.count
            #expect(held >= 5 && held < 20, "\(held)")
            #expect(consumer.state == .ready, "a connection that is not read does not count as silent")
            var settled = 0
            while settled < 100 {
                await scene.wait("delivery") { scene.deliveries.count > settled }
                #expect(consumer.bodyBytesInFlight <= 50_000 + 128 * 1024)
                consumer.acknowledge(scene.deliveries[settled].tag)
                settled += 1
            }
            #expect(consumer.bodyBytesInFlight == 0)
            #expect(scene.loop.network.connections.count == 1)
            await consumer.close()
        }
    }

    @Test func anotherConnectionIsHeldUpAsTheFirst() {
        Scene.play { scene in
            try scene.broker.start()
            scene.broker.declareQueue("in")
            for _ in 0..<100 { scene.broker.publish(routingKey: "in", body: .init(repeating: 7, count: 10_000)) }
            let consumer = scene.makeConsumer(prefetch: 100) { $0.bodyBytesInFlightMax = 50_000 }
            await scene.pass(.seconds(10))
            let held = scene.deliveries.count
            #expect(held >= 5 && held < 20, "\(held)")
            scene.loop.network.connections[0].cut()
            await scene.pass(.seconds(10))
            #expect(scene.broker.logins == 2)
            #expect(scene.deliveries.count > held && scene.deliveries.count < held + 20)
            await consumer.close()
        }
    }

    @Test func whoWasNotListenedToHasItsWholeTimeAgain() {
        Scene.play { scene in
            try scene.broker.start()
            scene.broker.declareQueue("in")
            scene.broker.publish(routingKey: "in", body: .init(repeating: 7, count: 50_000))
            let consumer = scene.makeConsumer { $0.bodyBytesInFlightMax = 50_000 }
            await scene.wait("delivery") { scene.deliveries.count == 1 }
            scene.broker.setSilent(true)
            await scene.pass(.seconds(120))
            consumer.acknowledge(scene.deliveries[0].tag)
            await scene.pass(.seconds(45))
            #expect(!scene.states.contains("consumer waiting: timedOut"))
            await scene.wait("loss", limit: .seconds(60)) { scene.states.contains("consumer waiting: timedOut") }
            await consumer.close()
        }
    }

    @Test func whoHoldsTooMuchIsGivenNoMoreForSettlingLittle() {
        Scene.play { scene in
            try scene.broker.start()
            scene.broker.declareQueue("in")
            for number in 0..<120 {
                let size = number < 20 ? 10 : 10_000
                scene.broker.publish(routingKey: "in", messageID: "\(number)", body: .init(repeating: 7, count: size))
            }
            let consumer = scene.makeConsumer(prefetch: 120) { $0.bodyBytesInFlightMax = 50_000 }
            await scene.pass(.seconds(10))
            let held = scene.deliveries
            #expect(consumer.bodyBytesInFlight >= 50_000)
            for delivery in held[..<20] {
                consumer.acknowledge(delivery.tag)
                await scene.pass(.milliseconds(100))
            }
            #expect(scene.deliveries.count == held.count)
            for delivery in held[20...] { consumer.acknowledge(delivery.tag) }
            await scene.wait("more") { scene.deliveries.count > held.count }
            // Held up again, it still hears the answer to its goodbye.
            await scene.pass(.seconds(10))
            #expect(consumer.bodyBytesInFlight >= 50_000)
            let start = scene.loop.now.monotonic
            await consumer.close()
            #expect(start.duration(to: scene.loop.now.monotonic) < .seconds(1))
        }
    }

    @Test func whoHoldsLittleDoesNotLetGoOnWhoHoldsMuch() {
        Scene.play { scene in
            try scene.broker.start()
            scene.broker.declareQueue("in")
            scene.broker.declareQueue("large")
            let connection = scene.makeConnection()
            let little = scene.makeConsumer("in", on: connection)
            let much = scene.makeConsumer("large", prefetch: 100, on: connection) { $0.bodyBytesInFlightMax = 50_000 }
            scene.fill(["a"])
            await scene.wait("delivery") { little.unsettledCount == 1 }
            for _ in 0..<100 { scene.broker.publish(routingKey: "large", body: .init(repeating: 7, count: 10_000)) }
            await scene.pass(.seconds(10))
            let held = much.unsettledCount
            #expect(held >= 5 && held < 20, "\(held)")
            little.acknowledge(scene.deliveries[0].tag)
            await scene.pass(.seconds(10))
            #expect(much.unsettledCount == held)
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
            #expect(consumer.state == .ready)
            #expect(scene.deliveries.count == count)
            await consumer.stopConsuming()
            await consumer.close()
        }
    }

    @Test func stoppingWhileTheQueueIsDeletedIsNoMisunderstanding() {
        Scene.play { scene in
            try scene.broker.start()
            scene.broker.declareQueue("in")
            let consumer = scene.makeConsumer()
            await scene.wait("ready") { consumer.state == .ready }
            scene.broker.deleteQueue("in")
            await consumer.stopConsuming()
            await scene.pass(.seconds(60))
            #expect(consumer.state == .ready)
            #expect(scene.loop.network.connections.count == 1)
            await consumer.close()
        }
    }

    @Test func stoppingAfterTheBrokerEndedTheConsumerIsNoneEither() {
        Scene.play { scene in
            try scene.broker.start()
            scene.broker.declareQueue("in")
            let consumer = scene.makeConsumer()
            await scene.wait("ready") { consumer.state == .ready }
            scene.broker.deleteQueue("in")
            await scene.wait("cancel") { scene.states.contains("consumer waiting: consumerCancelled") }
            await consumer.stopConsuming()
            scene.broker.declareQueue("in")
            scene.fill(["a"])
            await scene.wait("ready") { consumer.state == .ready }
            await scene.pass(.seconds(60))
            #expect(scene.deliveries.isEmpty)
            await consumer.close()
        }
    }

    @Test func closedItHoldsNobodyWhoListened() {
        final class Listener {}
        Scene.play { scene in
            let consumer = scene.makeConsumer()
            var listener: Listener? = Listener()
            weak let listening = listener
            consumer.onDelivery = { [listener] _ in _ = listener }
            consumer.onChannelLost = { [listener] in _ = listener }
            listener = nil
            #expect(listening != nil)
            await consumer.close()
            #expect(listening == nil)
            #expect(consumer.state == .closed)
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
            await scene.wait("ready") { consumer.state == .ready }
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
            await scene.wait("ready") { consumer.state == .ready }
            scene.broker.setSilent(true)
            await consumer.stopConsuming()
            #expect(consumer.state != .ready)
            await consumer.close()
        }
    }

    @Test func aSilentBrokerIsLeftAfterTwoHeartbeats() {
        Scene.play { scene in
            try scene.broker.start()
            scene.broker.declareQueue("in")
            let consumer = scene.makeConsumer()
            await scene.wait("ready") { consumer.state == .ready }
            await scene.pass(.seconds(3600))
            #expect(scene.loop.network.connections.count == 1, "heartbeats keep an idle connection")
            let start = scene.loop.now.monotonic
            scene.broker.setSilent(true)
            await scene.wait("loss") { scene.states.contains("consumer waiting: timedOut") }
            let seconds = start.duration(to: scene.loop.now.monotonic) / .seconds(1)
            #expect(seconds > 30 && seconds < 91, "\(seconds)")
            await scene.wait("again") { consumer.state == .ready }
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
            await scene.wait("ready") { consumer.state == .ready }
            await consumer.close()
        }
    }

    @Test func closeEndsEvenWhenTheBrokerDoesNotAnswer() {
        Scene.play { scene in
            try scene.broker.start()
            scene.broker.declareQueue("in")
            let consumer = scene.makeConsumer()
            await scene.wait("ready") { consumer.state == .ready }
            scene.broker.setSilent(true)
            let start = scene.loop.now.monotonic
            await consumer.close(deadlineSeconds: 3)
            #expect(start.duration(to: scene.loop.now.monotonic) <= .seconds(4))
            #expect(consumer.state == .closed)
            let idle = scene.makeConsumer()
            await idle.close()
            #expect(idle.state == .closed)
        }
    }

    @Test func aBrokerThatGoesDownInOrderIsAnswered() {
        Scene.play { scene in
            try scene.broker.start()
            scene.broker.declareQueue("in")
            let consumer = scene.makeConsumer()
            await scene.wait("ready") { consumer.state == .ready }
            scene.broker.shutDown()
            await scene.wait("loss") { scene.states.contains("consumer waiting: connectionForced") }
            #expect(scene.broker.connectionCount == 0)
            try scene.broker.start()
            await scene.wait("again") { consumer.state == .ready }
            await consumer.close()
        }
    }

    @Test func settledTwiceOrTooLateADeliveryGivesBackItsBytesOnce() {
        Scene.play { scene in
            try scene.broker.start()
            scene.broker.declareQueue("in")
            scene.fill(["a", "b"])
            let consumer = scene.makeConsumer()
            await scene.wait("deliveries") { scene.deliveries.count == 2 }
            for _ in 0..<3 {
                consumer.acknowledge(scene.deliveries[0].tag)
                consumer.reject(scene.deliveries[0].tag, requeue: true)
                consumer.requeue(scene.deliveries[0].tag)
            }
            #expect(consumer.staleSettlements == 8)
            #expect(consumer.bodyBytesInFlight == Int(scene.deliveries[1].tag.bytes))
            await scene.wait("ack") { scene.broker.queue("in")?.unsettled == 1 }
            scene.loop.network.connections[0].cut()
            await scene.wait("redelivery") { scene.deliveries.count == 3 }
            #expect(consumer.bodyBytesInFlight > Int(scene.deliveries[2].tag.bytes), "the first is still kept")
            consumer.acknowledge(scene.deliveries[1].tag)
            #expect(consumer.bodyBytesInFlight == Int(scene.deliveries[2].tag.bytes))
            consumer.acknowledge(scene.deliveries[2].tag)
            #expect(consumer.bodyBytesInFlight == 0)
            await scene.wait("ack") { scene.broker.queue("in")?.unsettled == 0 }
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
            await scene.wait("ready") { consumer.state == .ready }
            scene.fill(["d"])
            await scene.wait("delivery") { scene.deliveries.count == 4 }
            #expect(scene.deliveredTexts == ["a", "b", "c", "d"])
            #expect(!scene.deliveries[3].isRedelivered)
            #expect(scene.broker.logins == 1)
            await consumer.close()
        }
    }
}
