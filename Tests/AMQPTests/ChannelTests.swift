import EventLoop
import TestKit
import Testing

@testable import AMQP

/// Several channels on one connection: what goes wrong on one harms no other.
@Suite struct ChannelTests {
    @Test func aMissingQueueDisturbsNeitherTheOthersNorTheConnection() {
        Scene.play { scene in
            try scene.broker.start()
            scene.broker.declareQueue("in")
            scene.fill(["a"])
            let connection = scene.makeConnection()
            let missing = scene.makeConsumer("missing", on: connection)
            let present = scene.makeConsumer("in", on: connection)
            await scene.wait("refusal") { if case .waiting = missing.status { true } else { false } }
            await scene.wait("delivery") { scene.deliveries.count == 1 }
            let held = scene.deliveries[0].tag
            await scene.pass(.seconds(120))
            guard case .waiting(let error, _) = missing.status else { return fail("\(missing.status)") }
            #expect(error.code == .notFound)
            #expect(error.message == "queue missing is missing")
            #expect(connection.status == .ready)
            #expect(present.status == .ready)
            #expect(present.holds(held))
            present.acknowledge(held)
            #expect(!present.holds(held))
            scene.broker.declareQueue("missing")
            scene.fill(["b"], into: "missing")
            await scene.wait("delivery") { scene.deliveries.count == 2 }
            #expect(scene.deliveries[1].queue == "missing")
            #expect(scene.broker.queue("in")?.unsettled == 0)
            #expect(scene.loop.network.connections.count == 1)
            #expect(scene.broker.logins == 1)
            await connection.close()
            #expect(present.status == .closed)
            #expect(missing.status == .closed)
            #expect(scene.texts(in: "missing") == ["b"])
            #expect(scene.makeConsumer("in", on: connection).status == .closed, "there will be no other connection")
        }
    }

    @Test func eachQueueHasItsPrefetch() {
        Scene.play { scene in
            try scene.broker.start()
            for queue in ["urgent", "bulk"] {
                scene.broker.declareQueue(queue)
                scene.fill((0..<20).map { "\(queue) \($0)" }, into: queue)
            }
            let connection = scene.makeConnection()
            _ = scene.makeConsumer("urgent", prefetch: 7, on: connection)
            _ = scene.makeConsumer("bulk", prefetch: 3, on: connection)
            await scene.pass(.seconds(5))
            #expect(scene.deliveries.filter { $0.queue == "urgent" }.count == 7)
            #expect(scene.deliveries.filter { $0.queue == "bulk" }.count == 3)
            await connection.close()
        }
    }

    @Test func aMissingExchangeCostsThePublishersChannelOnly() {
        Scene.play { scene in
            try scene.broker.start()
            scene.broker.declareQueue("out")
            let connection = scene.makeConnection()
            let first = Publisher(on: connection)
            let second = Publisher(on: connection)
            first.start()
            second.start()
            scene.broker.behaviour.confirmDelayMilliseconds = 200...200
            try await first.waitUntilReady(deadlineSeconds: 10)
            try await second.waitUntilReady(deadlineSeconds: 10)
            scene.publish(Scene.message("a"), second)
            scene.publish(Scene.message("b", exchange: "missing"), first)
            await scene.wait("outcomes") { scene.outcomes.count == 2 }
            guard case .unknown(let error) = scene.outcomes["b"] else { return fail("\(scene.outcomes)") }
            #expect(error.message == "exchange missing is missing")
            #expect(scene.outcomes["a"] == .confirmed)
            #expect(await first.publish(Scene.message("c")) == .confirmed)
            #expect(scene.broker.logins == 1)
            await connection.close()
        }
    }

    /// Nobody has to change a configuration for it.
    @Test func aChannelThatWasClosedForALateAcknowledgementIsBackSoon() {
        Scene.play { scene in
            try scene.broker.start()
            scene.broker.declareQueue("in")
            scene.fill(["a"])
            let consumer = scene.makeConsumer()
            await scene.wait("delivery") { scene.deliveries.count == 1 }
            scene.broker.closeChannels(
                406,
                "PRECONDITION_FAILED - delivery acknowledgement on channel 1 timed out. Timeout value used: 1800000 ms. "
                    + "This timeout value can be configured, see consumers doc guide to learn more")
            await scene.wait("loss") { if case .waiting = consumer.status { true } else { false } }
            guard case .waiting(let error, _) = consumer.status else { return fail("\(consumer.status)") }
            #expect(error.code == .preconditionFailed)
            #expect(error.isRetriable)
            await scene.wait("redelivery", limit: .seconds(1)) { scene.deliveries.count == 2 }
            await consumer.close()
        }
    }

    @Test(arguments: [
        "PRECONDITION_FAILED - unknown delivery tag 7", "PRECONDITION_FAILED - inequivalent arg 'x-queue-type'",
        "PRECONDITION_FAILED - fast reply consumer does not exist", "PRECONDITION_FAILED",
    ]) func anotherPreconditionIsForSomebodyToMend(replyText: String) {
        #expect(!AMQPError(replyCode: 406, replyText: replyText).isRetriable)
    }

    @Test func aClosedChannelPutsBackWhatItHeldAndItsNumberIsUsedAgain() {
        Scene.play { scene in
            try scene.broker.start()
            scene.broker.declareQueue("in")
            scene.broker.declareQueue("other")
            scene.fill(["a", "b"])
            let connection = scene.makeConnection()
            let other = scene.makeConsumer("other", on: connection)
            for round in 1...(BrokerConnection.channelsMax + 4) {
                let count = scene.deliveries.count
                let consumer = scene.makeConsumer("in", on: connection)
                let losses = scene.countLosses(of: consumer)
                await scene.wait("deliveries") { scene.deliveries.count == count + 2 }
                await consumer.close()
                #expect(consumer.status == .closed)
                await consumer.close()
                #expect(losses.count == 1, "round \(round)")
                #expect(scene.texts(in: "in") == ["a", "b"])
            }
            #expect(other.status == .ready)
            #expect(scene.broker.logins == 1)
            await connection.close()
        }
    }

    @Test func aChannelThatTheBrokerLeavesWithoutAnAnswerIsGivenUpAlone() {
        Scene.play { scene in
            try scene.broker.start()
            scene.broker.declareQueue("in")
            scene.broker.declareQueue("stuck")
            scene.broker.behaviour.unansweredQueues = ["stuck"]
            scene.fill(["a"])
            let connection = scene.makeConnection()
            let stuck = scene.makeConsumer("stuck", on: connection)
            let consumer = scene.makeConsumer("in", on: connection)
            await scene.wait("delivery") { scene.deliveries.count == 1 }
            await scene.wait("time-out") { if case .waiting = stuck.status { true } else { false } }
            guard case .waiting(let error, _) = stuck.status else { return fail("\(stuck.status)") }
            #expect(error.code == .timedOut)
            await scene.pass(.seconds(120))
            #expect(consumer.holds(scene.deliveries[0].tag))
            scene.broker.behaviour.unansweredQueues = []
            await scene.wait("ready") { stuck.status == .ready }
            #expect(scene.broker.logins == 1)
            await connection.close()
        }
    }

    @Test func aChannelThatIsNotThereIsClosedAtOnce() {
        Scene.play { scene in
            let connection = scene.makeConnection()
            let detached = scene.makeConsumer("missing", on: connection)
            var start = scene.loop.now.monotonic
            await detached.close()
            #expect(detached.status == .closed)
            #expect(scene.loop.now.monotonic == start, "there is no connection")
            try scene.broker.start()
            let lost = scene.makeConsumer("missing", on: connection)
            await scene.wait("refusal") { if case .waiting = lost.status { true } else { false } }
            start = scene.loop.now.monotonic
            await lost.close()
            #expect(lost.status == .closed)
            #expect(scene.loop.now.monotonic == start, "the broker has closed it")
            await connection.close()
        }
    }

    @Test func whoWaitsForAQueueIsToldOnceItIsThere() {
        Scene.play { scene in
            try scene.broker.start()
            let consumer = scene.makeConsumer("missing", on: scene.makeConnection())
            scene.loop.schedule(after: .seconds(5)) {
                scene.assumeIsolated { _ = $0.broker.declareQueue("missing") }
            }
            try await consumer.waitUntilReady(deadlineSeconds: 60)
            #expect(consumer.status == .ready)
        }
    }

    @Test func closeEndsEvenWhenTheBrokerDoesNotAnswer() {
        Scene.play { scene in
            try scene.broker.start()
            scene.broker.declareQueue("in")
            let connection = scene.makeConnection()
            let consumer = scene.makeConsumer("in", on: connection)
            await scene.wait("ready") { consumer.status == .ready }
            scene.broker.setSilent(true)
            let start = scene.loop.now.monotonic
            await consumer.close(deadlineSeconds: 3)
            #expect(start.duration(to: scene.loop.now.monotonic) <= .seconds(4))
            #expect(consumer.status == .closed)
            #expect(connection.status == .ready)
            await connection.close()
        }
    }

    @Test func whereBothSidesCloseAChannelItsNumberIsUsedAgain() {
        Scene.play { scene in
            try scene.broker.start()
            scene.broker.declareQueue("in")
            let connection = scene.makeConnection()
            let consumer = scene.makeConsumer("in", on: connection)
            await scene.wait("ready") { consumer.status == .ready }
            scene.broker.closeChannels(406, "PRECONDITION_FAILED - consumer ack timed out")
            await consumer.close()
            let next = scene.makeConsumer("in", on: connection)
            await scene.wait("ready") { next.status == .ready }
            #expect(scene.broker.logins == 1)
            await connection.close()
        }
    }

    @Test func aChannelWhoseCloseIsNotAnsweredCostsTheConnection() {
        Scene.play { scene in
            try scene.broker.start()
            scene.broker.declareQueue("stuck")
            scene.broker.behaviour.unansweredQueues = ["stuck"]
            let connection = scene.makeConnection()
            _ = scene.makeConsumer("stuck", on: connection)
            await scene.pass(.seconds(14))
            scene.broker.setSilent(true)
            let start = scene.loop.now.monotonic
            await scene.wait("loss") { if case .waiting = connection.status { true } else { false } }
            #expect(start.duration(to: scene.loop.now.monotonic) < .seconds(20))
            await connection.close()
        }
    }

    @Test func whatOneConsumerHoldsUpIsNoSilenceToAnother() {
        Scene.play { scene in
            try scene.broker.start()
            scene.broker.declareQueue("in")
            scene.broker.declareQueue("other")
            for number in 0..<10 {
                scene.broker.publish(
                    routingKey: "in", messageID: "\(number)", body: .init(repeating: 7, count: 40_000))
            }
            let connection = scene.makeConnection()
            let consumer = scene.makeConsumer("in", on: connection) { $0.bodyBytesInFlightMax = 50_000 }
            await scene.wait("deliveries") { scene.deliveries.count == 2 }
            let other = scene.makeConsumer("other", on: connection)
            await scene.pass(.seconds(60))
            guard case .connecting = other.status else { return fail("\(other.status)") }
            await consumer.close()
            await scene.wait("ready") { other.status == .ready }
            #expect(scene.broker.logins == 1)
            await connection.close()
        }
    }

    @Test func aNewConnectionHasItsWholeTimeToOpenTheChannel() {
        Scene.play { scene in
            scene.loop.network.latencyMicroseconds = 200_000...200_000
            try scene.broker.start()
            let connection = scene.makeConnection()
            let consumer = scene.makeConsumer("in", on: connection)
            for login in 1...2 {
                await scene.wait("login") { scene.broker.logins == login }
                // Its answer is on the way, that to the channel's opening never comes.
                await scene.pass(.milliseconds(100))
                scene.broker.setSilent(true)
                await scene.wait("the opening") { if case .connecting = consumer.status { true } else { false } }
                guard login == 1 else { break }
                await scene.pass(.seconds(10))
                scene.loop.network.connections[0].cut()
            }
            let start = scene.loop.now.monotonic
            await scene.wait("time-out") { if case .waiting = consumer.status { true } else { false } }
            #expect(start.duration(to: scene.loop.now.monotonic) >= .seconds(14))
            await connection.close()
        }
    }

    @Test func aChannelThatIsSlowToCloseIsOpenedAgainOnceItHas() {
        Scene.play { scene in
            scene.loop.network.latencyMicroseconds = 1_000_000...1_000_000
            try scene.broker.start()
            scene.broker.declareQueue("stuck")
            scene.broker.behaviour.unansweredQueues = ["stuck"]
            let connection = scene.makeConnection()
            let stuck = scene.makeConsumer("stuck", on: connection)
            await scene.wait("time-out") { if case .waiting = stuck.status { true } else { false } }
            scene.broker.behaviour.unansweredQueues = []
            await scene.wait("ready") { stuck.status == .ready }
            #expect(scene.broker.logins == 1)
            await connection.close()
        }
    }

    @Test func noChannelIsOpenedWhileTheConnectionCloses() {
        Scene.play { scene in
            scene.loop.network.latencyMicroseconds = 1_000_000...1_000_000
            try scene.broker.start()
            scene.broker.declareQueue("stuck")
            scene.broker.behaviour.unansweredQueues = ["stuck"]
            let connection = scene.makeConnection()
            let stuck = scene.makeConsumer("stuck", on: connection)
            await scene.wait("connecting") { if case .connecting = stuck.status { true } else { false } }
            scene.note("stuck", stuck)
            await scene.wait("time-out") { if case .waiting = stuck.status { true } else { false } }
            // The answer to the channel's close comes before that to the connection's.
            await connection.close()
            #expect(scene.states == ["stuck waiting: timedOut", "stuck closed"])
        }
    }

    @Test func whatIsStillDeliveredToAChannelThatClosesIsIgnored() {
        Scene.play { scene in
            try scene.broker.start()
            scene.broker.declareQueue("in")
            scene.broker.declareQueue("other")
            scene.fill((0..<20).map { "\($0)" })
            let connection = scene.makeConnection()
            let consumer = scene.makeConsumer("in", prefetch: 5, on: connection)
            let other = scene.makeConsumer("other", on: connection)
            await scene.wait("deliveries") { scene.deliveries.count == 5 }
            // They make room for as many more, which the broker sends before it reads of the close.
            for delivery in scene.deliveries { consumer.acknowledge(delivery.tag) }
            await consumer.close()
            #expect(scene.texts(in: "in") == (5..<20).map { "\($0)" })
            #expect(scene.deliveries.count == 5)
            #expect(other.status == .ready)
            #expect(scene.broker.logins == 1)
            await connection.close()
        }
    }

    @Test(arguments: 1...2) func theBrokersOfAClusterAreTriedOneAfterTheOther(seed: UInt64) {
        Scene.play(seed: seed) { scene in
            try scene.broker.start()
            let hosts = ["one", "two", "broker"]
            let tried = Scene.Notes()
            let connection = scene.makeConnection(to: hosts) { state in
                if case .connecting(let endpoint) = state { tried.texts.append(endpoint.host) }
            }
            await scene.wait("ready") { connection.status == .ready }
            #expect(tried.texts.count <= hosts.count)
            #expect(tried.texts.last == "broker")
            scene.broker.crash()
            await scene.wait("tries") { tried.texts.count >= 3 * hosts.count }
            for first in 0...(2 * hosts.count) {
                #expect(Set(tried.texts[first..<(first + hosts.count)]) == Set(hosts))
            }
            await connection.close()
        }
    }

    @Test func whatNeverBeganIsNotLost() {
        Scene.play { scene in
            let connection = scene.makeConnection()
            let consumer = scene.makeConsumer("in", on: connection)
            let words = scene.noteFailures(of: connection)
            await scene.wait("refusal") { words.texts.count == 1 }
            #expect(consumer.status == .disconnected)
            scene.broker.declareQueue("in")
            try scene.broker.start()
            await scene.wait("ready") { consumer.status == .ready }
            let refusals = words.texts.count
            scene.loop.network.connections.last?.cut()
            await scene.wait("loss") { words.texts.count == refusals + 1 }
            #expect(consumer.status == .disconnected)
            await scene.wait("again") { consumer.status == .ready }
            scene.broker.behaviour.credentials.password = "other"
            scene.broker.closeConnections()
            await scene.wait("login refused") { words.texts.last?.contains("log in") == true }
            #expect(words.texts[0] == "cannotConnect: cannot connect to broker:5672: connection refused")
            #expect(
                words.texts[refusals]
                    == "connectionLost: the connection to broker:5672 was lost: connection reset by peer")
            #expect(
                words.texts[refusals + 1]
                    == "connectionForced: the connection to broker:5672 was lost: CONNECTION_FORCED - broker forced connection closure"
            )
            #expect(
                words.texts[refusals + 2]
                    == "accessRefused: cannot log in at broker:5672 as guest: ACCESS_REFUSED - Login was refused using authentication mechanism PLAIN."
            )
            await connection.close()
            #expect(consumer.status == .closed)
        }
    }

    @Test func onlyWhenNoConsumerHoldsTooMuchIsTheConnectionRead() {
        Scene.play { scene in
            try scene.broker.start()
            for queue in ["a", "b"] {
                scene.broker.declareQueue(queue)
                for number in 0..<10 {
                    scene.broker.publish(
                        routingKey: queue, messageID: "\(queue) \(number)", body: .init(repeating: 7, count: 40_000))
                }
            }
            let connection = scene.makeConnection()
            let first = scene.makeConsumer("a", on: connection) { $0.bodyBytesInFlightMax = 50_000 }
            let second = scene.makeConsumer("b", on: connection) { $0.bodyBytesInFlightMax = 50_000 }
            await scene.pass(.seconds(120))
            #expect(scene.deliveries.count < 20)
            var settled = 0
            while settled < 20 {
                await scene.wait("delivery") { scene.deliveries.count > settled }
                let delivery = scene.deliveries[settled]
                (delivery.queue == "a" ? first : second).acknowledge(delivery.tag)
                settled += 1
            }
            await scene.wait("acks") { scene.broker.queues.allSatisfy { $0.unsettled == 0 && $0.ready.isEmpty } }
            #expect(first.bodyBytesInFlight == 0)
            #expect(second.bodyBytesInFlight == 0)
            #expect(scene.broker.logins == 1)
            await connection.close()
        }
    }

    @Test func theChannelThatIsLostGivesBackItsShareOfTheReading() {
        Scene.play { scene in
            try scene.broker.start()
            scene.broker.declareQueue("in")
            scene.broker.declareQueue("other")
            for number in 0..<3 {
                scene.broker.publish(
                    routingKey: "in", messageID: "\(number)", body: .init(repeating: 7, count: 40_000))
            }
            let connection = scene.makeConnection()
            let consumer = scene.makeConsumer("in", on: connection) { $0.bodyBytesInFlightMax = 50_000 }
            let other = scene.makeConsumer("other", on: connection)
            await scene.wait("deliveries") { scene.deliveries.count == 2 }
            await consumer.close()
            scene.fill(["a"], into: "other")
            await scene.wait("the other's delivery") { scene.deliveries.last?.queue == "other" }
            #expect(other.status == .ready)
            await connection.close()
        }
    }

    @Test func anAlarmDoesNotHideThatAQueueIsGone() {
        Scene.play { scene in
            try scene.broker.start()
            scene.broker.declareQueue("in")
            scene.broker.declareQueue("out")
            let connection = scene.makeConnection()
            let consumer = scene.makeConsumer("in", on: connection)
            let publisher = Publisher(on: connection)
            publisher.start()
            #expect(await publisher.publish(Scene.message("a")) == .confirmed)
            await scene.wait("ready") { consumer.status == .ready }
            scene.note("consumer", consumer)
            scene.broker.deleteQueue("in")
            await scene.wait("cancel") { scene.states == ["consumer waiting: consumerCancelled"] }
            scene.broker.raiseAlarm("low on memory")
            await scene.wait("blocked") { publisher.status == .blocked(reason: "low on memory") }
            scene.broker.clearAlarm()
            await scene.wait("unblocked") { publisher.status == .ready }
            await scene.pass(.seconds(60))
            #expect(!scene.states.contains("consumer ready"))
            scene.broker.declareQueue("in")
            await scene.wait("again") { consumer.status == .ready }
            await connection.close()
        }
    }

    @Test func moreChannelsThanTheBrokerAllowsAreSaid() {
        Scene.play { scene in
            scene.broker.behaviour.channelMax = 1
            try scene.broker.start()
            scene.broker.declareQueue("in")
            let connection = scene.makeConnection()
            let first = scene.makeConsumer("in", on: connection)
            let second = scene.makeConsumer("in", on: connection)
            let start = scene.loop.now.monotonic
            for _ in 0..<2 {
                let error = await #expect(throws: AMQPError.self) {
                    try await second.waitUntilReady(deadlineSeconds: 600)
                }
                #expect(
                    error?.message
                        == "the connection needs 2 channels and the broker allows 1: set channel_max = 2 or more in "
                        + "rabbitmq.conf")
            }
            #expect(start.duration(to: scene.loop.now.monotonic) < .seconds(1), "waiting does not help")
            await scene.wait("ready") { first.status == .ready }
            await connection.close()
        }
    }

    @Test func theCloseOfAChannelThatWasGivenUpHasItsOwnDeadline() {
        Scene.play { scene in
            scene.connection.heartbeatSeconds = 0
            try scene.broker.start()
            scene.broker.declareQueue("in")
            let connection = scene.makeConnection()
            let consumer = scene.makeConsumer("in", on: connection)
            try await consumer.waitUntilReady(deadlineSeconds: 10)
            scene.broker.setSilent(true)
            consumer.pause()
            await scene.wait("given up", limit: .seconds(20)) { consumer.status != .ready }
            let start = scene.loop.now.monotonic
            await consumer.close(deadlineSeconds: 60)
            #expect(start.duration(to: scene.loop.now.monotonic) >= .seconds(60))
            #expect(connection.status == .ready, "it may have other channels")
        }
    }
}
