import AMQP
import EventLoop
import TestKit
import Testing

/// A consumer that pauses and resumes, and fetches single messages.
@Suite struct PauseTests {
    @Test func pausedItStaysReadyAndSettlesWhatItHas() {
        Scene.play { scene in
            try scene.broker.start()
            scene.broker.declareQueue("in")
            scene.fill(["a", "b"])
            let consumer = scene.makeConsumer()
            await scene.wait("deliveries") { scene.deliveries.count == 2 }
            consumer.pause()
            await scene.wait("cancelled") { scene.broker.queue("in")?.consumerCount == 0 }
            scene.fill(["c"])
            for delivery in scene.deliveries { consumer.acknowledge(delivery.tag) }
            await scene.wait("acks") { scene.broker.queue("in")?.unsettled == 0 }
            await scene.pass(.seconds(60))
            #expect(scene.deliveries.count == 2)
            consumer.resume()
            await scene.wait("delivery") { scene.deliveries.count == 3 }
            #expect(scene.states == ["consumer connecting", "consumer ready"])
            await consumer.close()
        }
    }

    @Test func pausedItStaysAcrossConnectionsUntilItResumes() {
        Scene.play { scene in
            try scene.broker.start()
            scene.broker.declareQueue("in")
            let consumer = scene.makeConsumer()
            consumer.pause()
            await scene.wait("ready") { consumer.state == .ready }
            scene.fill(["a"])
            scene.broker.closeConnections()
            await scene.wait("lost") { consumer.state != .ready }
            await scene.wait("ready again") { consumer.state == .ready }
            await scene.pass(.seconds(60))
            #expect(scene.deliveries.isEmpty)
            scene.broker.crash()
            await scene.wait("lost") { consumer.state != .ready }
            consumer.resume()
            try scene.broker.start()
            await scene.wait("delivery") { scene.deliveries.count == 1 }
            #expect(scene.broker.logins == 3, "one for each connection that was lost, and the first")
            await consumer.close()
        }
    }

    /// Whatever the times between the calls, the last one counts.
    @Test(arguments: UInt64(1)...40)
    func theLastCallCounts(seed: UInt64) {
        Scene.play(seed: seed) { scene in
            var random = SeededRandom(seed: seed)
            scene.broker.declareQueue("in")
            try scene.broker.start()
            let consumer = scene.makeConsumer()
            for _ in 0..<20 {
                if random.chance(percent: 50) { consumer.pause() } else { consumer.resume() }
                switch random.below(12) {
                case 0: scene.broker.closeConnections()
                case 1: scene.broker.deleteQueue("in")
                case 2: scene.broker.declareQueue("in")
                default: break
                }
                await scene.loop.sleep(for: .microseconds(random.below(3000)))
            }
            scene.broker.declareQueue("in")
            consumer.pause()
            await scene.wait("settled") { consumer.state == .ready && scene.broker.queue("in")?.consumerCount == 0 }
            await scene.pass(.seconds(60))
            #expect(scene.broker.queue("in")?.consumerCount == 0)
            consumer.resume()
            await scene.wait("consuming") { scene.broker.queue("in")?.consumerCount == 1 }
            await scene.pass(.seconds(60))
            #expect(scene.broker.queue("in")?.consumerCount == 1)
            #expect(consumer.state == .ready)
            await consumer.close()
        }
    }

    @Test func oneMessageIsFetchedAndSettledAsAnyOther() {
        Scene.play { scene in
            try scene.broker.start()
            scene.broker.declareQueue(
                "in", arguments: ["x-dead-letter-exchange": "", "x-dead-letter-routing-key": "dead"])
            scene.broker.declareQueue("dead")
            let consumer = scene.makeConsumer()
            #expect(await consumer.get() == nil, "there is no channel yet")
            consumer.pause()
            try await consumer.waitUntilReady(deadlineSeconds: 10)
            #expect(await consumer.get() == nil, "the queue is empty")
            scene.fill(["a", "b", "c"])
            let first = try #require(await consumer.get())
            #expect(first.body == Array("a".utf8))
            #expect(first.queue == "in")
            #expect(!first.isRedelivered)
            #expect(consumer.unsettledCount == 1)
            #expect(consumer.bodyBytesInFlight == Int(first.tag.bytes))
            let second = try #require(await consumer.get())
            consumer.requeue(second.tag)
            consumer.acknowledge(first.tag)
            await scene.wait("acks") { scene.broker.queue("in")?.unsettled == 0 }
            let again = try #require(await consumer.get())
            #expect(again.body == Array("b".utf8))
            #expect(again.deliveryCount == 1)
            consumer.reject(again.tag, requeue: false)
            await scene.wait("dead letter") { scene.texts(in: "dead") == ["b"] }
            #expect(scene.deliveries.isEmpty)
            #expect(scene.texts(in: "in") == ["c"])
            #expect(consumer.unsettledCount == 0)
            await consumer.close()
        }
    }

    /// More than could ever be delivered.
    @Test func asManyAreFetchedAsAreAskedFor() {
        Scene.play { scene in
            try scene.broker.start()
            scene.broker.declareQueue("in")
            scene.fill((0...1000).map { "\($0)" })
            let consumer = scene.makeConsumer()
            consumer.pause()
            try await consumer.waitUntilReady(deadlineSeconds: 10)
            for _ in 0...1000 { #expect(await consumer.get() != nil) }
            #expect(consumer.unsettledCount == 1001)
            #expect(scene.broker.logins == 1)
            await consumer.close()
        }
    }

    @Test func oneMessageIsFetchedAmongDeliveries() {
        Scene.play { scene in
            try scene.broker.start()
            scene.broker.declareQueue("in")
            let consumer = scene.makeConsumer(prefetch: 2)
            try await consumer.waitUntilReady(deadlineSeconds: 10)
            scene.fill((0..<10).map { "\($0)" })
            await scene.wait("deliveries") { scene.deliveries.count == 2 }
            let fetched = try #require(await consumer.get())
            #expect(fetched.body == Array("2".utf8))
            for delivery in scene.deliveries { consumer.acknowledge(delivery.tag) }
            consumer.acknowledge(fetched.tag)
            await scene.wait("deliveries") { scene.deliveries.count == 4 }
            #expect(scene.deliveredTexts == ["0", "1", "3", "4"])
            await consumer.close()
        }
    }

    @Test func theSecondOfTwoIsTurnedAwayAndNoneWaitsForALostChannel() {
        Scene.play { scene in
            try scene.broker.start()
            scene.broker.declareQueue("in")
            let consumer = scene.makeConsumer()
            consumer.pause()
            try await consumer.waitUntilReady(deadlineSeconds: 10)
            scene.fill(["a", "b"])
            let fetches = scene.fetch(2, from: consumer)
            await scene.wait("both") { fetches.results.count == 2 }
            #expect(fetches.results.filter { $0 == nil }.count == 1)
            #expect(fetches.results.contains("a"))
            scene.broker.setSilent(true)
            let late = scene.fetch(1, from: consumer)
            await scene.pass(.seconds(1))
            #expect(late.results.isEmpty)
            scene.loop.network.connections[0].cut()
            await scene.wait("the end") { late.results.count == 1 }
            #expect(late.results == [nil])
            await scene.wait("again") { consumer.state == .ready }
            await consumer.close()
        }
    }

    @Test func aFetchThatIsNotAnsweredEnds() {
        Scene.play { scene in
            scene.connection.heartbeatSeconds = 0
            try scene.broker.start()
            scene.broker.declareQueue("in")
            let consumer = scene.makeConsumer()
            consumer.pause()
            try await consumer.waitUntilReady(deadlineSeconds: 10)
            scene.broker.setSilent(true)
            let fetched = scene.fetch(1, from: consumer)
            await scene.wait("the end", limit: .seconds(20)) { fetched.results == [nil] }
            await consumer.close(deadlineSeconds: 1)
        }
    }

    /// The consumer was paused after the broker had ended it.
    @Test func aFetchThatIsNotAnsweredAfterTheBrokersCancelEnds() {
        Scene.play { scene in
            scene.connection.heartbeatSeconds = 0
            try scene.broker.start()
            scene.broker.declareQueue("in")
            let consumer = scene.makeConsumer()
            try await consumer.waitUntilReady(deadlineSeconds: 10)
            scene.broker.deleteQueue("in")
            await scene.wait("cancel") { scene.states.contains("consumer waiting: consumerCancelled") }
            consumer.pause()
            scene.broker.setSilent(true)
            let fetched = scene.fetch(1, from: consumer)
            await scene.wait("the end", limit: .seconds(20)) { fetched.results == [nil] }
            await consumer.close(deadlineSeconds: 1)
        }
    }

    @Test func aQueueThatGoesMissingIsSaidByTheFetch() {
        Scene.play { scene in
            try scene.broker.start()
            scene.broker.declareQueue("in")
            let consumer = scene.makeConsumer()
            consumer.pause()
            try await consumer.waitUntilReady(deadlineSeconds: 10)
            scene.broker.deleteQueue("in")
            #expect(await consumer.get() == nil)
            guard case .waiting(let error, _) = consumer.state else { return fail("\(consumer.state)") }
            #expect(error.message == "queue in is missing")
            await consumer.close()
        }
    }

    @Test(arguments: 1...2) func theLossOfAChannelIsSaidOnceBeforeAnyRedelivery(count: Int) {
        Scene.play { scene in
            try scene.broker.start()
            scene.broker.declareQueue("in")
            let consumer = scene.makeConsumer()
            let losses = scene.countLosses(of: consumer)
            await scene.wait("ready") { consumer.state == .ready }
            scene.broker.closeConnections()
            await scene.wait("lost") { consumer.state != .ready }
            await scene.wait("ready") { consumer.state == .ready }
            #expect(losses.count == 0, "nothing had been delivered")
            scene.fill((0..<count).map { "\($0)" })
            for round in 1...5 {
                await scene.wait("deliveries") { scene.deliveries.count == round * count }
                #expect(losses.count == round - 1)
                #expect(scene.deliveries.suffix(count).allSatisfy { $0.deliveryCount == round - 1 })
                let tags = scene.deliveries.suffix(count).map(\.tag)
                #expect(tags.allSatisfy { consumer.holds($0) })
                switch round {
                case 1: scene.broker.closeConnections()
                case 2: scene.loop.network.connections.last?.cut()
                case 3: scene.broker.closeChannels(406, "PRECONDITION_FAILED - unknown delivery tag 7")
                default:
                    scene.broker.crash()
                    try scene.broker.start()
                }
                await scene.wait("loss") { losses.count == round }
                #expect(scene.deliveries.count == round * count)
                #expect(tags.allSatisfy { !consumer.holds($0) })
            }
            await scene.wait("deliveries") { scene.deliveries.count == 6 * count }
            for delivery in scene.deliveries.suffix(count) { consumer.acknowledge(delivery.tag) }
            await consumer.close()
            #expect(losses.count == 6)
            #expect(scene.texts(in: "in") == [])
        }
    }
}
