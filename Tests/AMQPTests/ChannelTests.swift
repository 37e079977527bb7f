import EventLoop
import TestKit
import Testing

@testable import AMQP

/// Several channels on one connection, where an error on one channel does not affect the others.
@Suite struct ChannelTests {
    @Test func aMissingQueueAffectsNeitherOtherChannelsNorTheConnection() {
        AMQPHarness.play { harness in
            try harness.broker.start()
            harness.broker.declareQueue("in")
            harness.fill(["a"])
            let connection = harness.makeConnection()
            let missing = harness.makeConsumer("missing", on: connection)
            let present = harness.makeConsumer("in", on: connection)
            await harness.wait("refusal") { if case .waiting = missing.status { true } else { false } }
            await harness.wait("delivery") { harness.deliveries.count == 1 }
            let held = harness.deliveries[0].tag
            await harness.pass(.seconds(120))
            guard case .waiting(let error, _) = missing.status else { return fail("\(missing.status)") }
            #expect(error.code == .notFound)
            #expect(error.message == "queue missing is missing")
            #expect(connection.status == .ready)
            #expect(present.status == .ready)
            #expect(present.holds(held))
            present.acknowledge(held)
            #expect(!present.holds(held))
            harness.broker.declareQueue("missing")
            harness.fill(["b"], into: "missing")
            await harness.wait("delivery") { harness.deliveries.count == 2 }
            #expect(harness.deliveries[1].queue == "missing")
            #expect(harness.broker.queue("in")?.unsettled == 0)
            #expect(harness.loop.network.connections.count == 1)
            #expect(harness.broker.logins == 1)
            await connection.close()
            #expect(present.status == .closed)
            #expect(missing.status == .closed)
            #expect(harness.texts(in: "missing") == ["b"])
            #expect(
                harness.makeConsumer("in", on: connection).status == .closed, "a consumer opened on a closed connection"
            )
        }
    }

    @Test func eachQueueHasItsPrefetch() {
        AMQPHarness.play { harness in
            try harness.broker.start()
            for queue in ["urgent", "bulk"] {
                harness.broker.declareQueue(queue)
                harness.fill((0..<20).map { "\(queue) \($0)" }, into: queue)
            }
            let connection = harness.makeConnection()
            _ = harness.makeConsumer("urgent", prefetch: 7, on: connection)
            _ = harness.makeConsumer("bulk", prefetch: 3, on: connection)
            await harness.pass(.seconds(5))
            #expect(harness.deliveries.filter { $0.queue == "urgent" }.count == 7)
            #expect(harness.deliveries.filter { $0.queue == "bulk" }.count == 3)
            await connection.close()
        }
    }

    @Test func aMissingExchangeClosesOnlyThePublishersChannel() {
        AMQPHarness.play { harness in
            try harness.broker.start()
            harness.broker.declareQueue("out")
            let connection = harness.makeConnection()
            let first = Publisher(on: connection)
            let second = Publisher(on: connection)
            first.start()
            second.start()
            harness.broker.behavior.confirmDelayMilliseconds = 200...200
            try await first.waitUntilReady(deadlineSeconds: 10)
            try await second.waitUntilReady(deadlineSeconds: 10)
            harness.publish(AMQPHarness.message("a"), second)
            harness.publish(AMQPHarness.message("b", exchange: "missing"), first)
            await harness.wait("outcomes") { harness.outcomes.count == 2 }
            guard case .unknown(let error) = harness.outcomes["b"] else { return fail("\(harness.outcomes)") }
            #expect(error.message == "exchange missing is missing")
            #expect(harness.outcomes["a"] == .confirmed)
            #expect(await first.publish(AMQPHarness.message("c")) == .confirmed)
            #expect(harness.broker.logins == 1)
            await connection.close()
        }
    }

    // The channel reopens without a change of the configuration.
    @Test func aChannelClosedForALateAcknowledgmentReopensSoon() {
        AMQPHarness.play { harness in
            try harness.broker.start()
            harness.broker.declareQueue("in")
            harness.fill(["a"])
            let consumer = harness.makeConsumer()
            await harness.wait("delivery") { harness.deliveries.count == 1 }
            harness.broker.closeChannels(
                406,
                "PRECONDITION_FAILED - delivery acknowledgement on channel 1 timed out. Timeout value used: 1800000 ms. "
                    + "This timeout value can be configured, see consumers doc guide to learn more")
            await harness.wait("loss") { if case .waiting = consumer.status { true } else { false } }
            guard case .waiting(let error, _) = consumer.status else { return fail("\(consumer.status)") }
            #expect(error.code == .preconditionFailed)
            #expect(error.isRetriable)
            await harness.wait("redelivery", limit: .seconds(1)) { harness.deliveries.count == 2 }
            await consumer.close()
        }
    }

    @Test(arguments: [
        "PRECONDITION_FAILED - unknown delivery tag 7", "PRECONDITION_FAILED - inequivalent arg 'x-queue-type'",
        "PRECONDITION_FAILED - fast reply consumer does not exist", "PRECONDITION_FAILED",
    ]) func otherFailedPreconditionsNeedAnOperator(replyText: String) {
        #expect(!AMQPError(replyCode: 406, replyText: replyText).isRetriable)
    }

    @Test func aClosedChannelRequeuesItsDeliveriesAndReleasesItsNumber() {
        AMQPHarness.play { harness in
            try harness.broker.start()
            harness.broker.declareQueue("in")
            harness.broker.declareQueue("other")
            harness.fill(["a", "b"])
            let connection = harness.makeConnection()
            let other = harness.makeConsumer("other", on: connection)
            for round in 1...(BrokerConnection.channelsMax + 4) {
                let count = harness.deliveries.count
                let consumer = harness.makeConsumer("in", on: connection)
                let losses = harness.countLosses(of: consumer)
                await harness.wait("deliveries") { harness.deliveries.count == count + 2 }
                await consumer.close()
                #expect(consumer.status == .closed)
                await consumer.close()
                #expect(losses.count == 1, "round \(round)")
                #expect(harness.texts(in: "in") == ["a", "b"])
            }
            #expect(other.status == .ready)
            #expect(harness.broker.logins == 1)
            await connection.close()
        }
    }

    @Test func aChannelWithoutAnAnswerIsAbandonedAlone() {
        AMQPHarness.play { harness in
            try harness.broker.start()
            harness.broker.declareQueue("in")
            harness.broker.declareQueue("stuck")
            harness.broker.behavior.unansweredQueues = ["stuck"]
            harness.fill(["a"])
            let connection = harness.makeConnection()
            let stuck = harness.makeConsumer("stuck", on: connection)
            let consumer = harness.makeConsumer("in", on: connection)
            await harness.wait("delivery") { harness.deliveries.count == 1 }
            await harness.wait("time-out") { if case .waiting = stuck.status { true } else { false } }
            guard case .waiting(let error, _) = stuck.status else { return fail("\(stuck.status)") }
            #expect(error.code == .timedOut)
            await harness.pass(.seconds(120))
            #expect(consumer.holds(harness.deliveries[0].tag))
            harness.broker.behavior.unansweredQueues = []
            await harness.wait("ready") { stuck.status == .ready }
            #expect(harness.broker.logins == 1)
            await connection.close()
        }
    }

    @Test func aChannelThatIsNotOpenClosesImmediately() {
        AMQPHarness.play { harness in
            let connection = harness.makeConnection()
            let detached = harness.makeConsumer("missing", on: connection)
            var start = harness.loop.now.monotonic
            await detached.close()
            #expect(detached.status == .closed)
            #expect(harness.loop.now.monotonic == start, "the close took time without a connection")
            try harness.broker.start()
            let lost = harness.makeConsumer("missing", on: connection)
            await harness.wait("refusal") { if case .waiting = lost.status { true } else { false } }
            start = harness.loop.now.monotonic
            await lost.close()
            #expect(lost.status == .closed)
            #expect(harness.loop.now.monotonic == start, "the close of a channel that the broker had closed took time")
            await connection.close()
        }
    }

    @Test func aTaskThatWaitsForAQueueResumesOnceItExists() {
        AMQPHarness.play { harness in
            try harness.broker.start()
            let consumer = harness.makeConsumer("missing", on: harness.makeConnection())
            harness.loop.schedule(after: .seconds(5)) {
                harness.assumeIsolated { _ = $0.broker.declareQueue("missing") }
            }
            try await consumer.waitUntilReady(deadlineSeconds: 60)
            #expect(consumer.status == .ready)
        }
    }

    @Test func closingEndsWithoutAnAnswerOfTheBroker() {
        AMQPHarness.play { harness in
            try harness.broker.start()
            harness.broker.declareQueue("in")
            let connection = harness.makeConnection()
            let consumer = harness.makeConsumer("in", on: connection)
            await harness.wait("ready") { consumer.status == .ready }
            harness.broker.setSilent(true)
            let start = harness.loop.now.monotonic
            await consumer.close(deadlineSeconds: 3)
            #expect(start.duration(to: harness.loop.now.monotonic) <= .seconds(4))
            #expect(consumer.status == .closed)
            #expect(connection.status == .ready)
            await connection.close()
        }
    }

    @Test func aChannelClosedByBothSidesReleasesItsNumber() {
        AMQPHarness.play { harness in
            try harness.broker.start()
            harness.broker.declareQueue("in")
            let connection = harness.makeConnection()
            let consumer = harness.makeConsumer("in", on: connection)
            await harness.wait("ready") { consumer.status == .ready }
            harness.broker.closeChannels(406, "PRECONDITION_FAILED - consumer ack timed out")
            await consumer.close()
            let next = harness.makeConsumer("in", on: connection)
            await harness.wait("ready") { next.status == .ready }
            #expect(harness.broker.logins == 1)
            await connection.close()
        }
    }

    @Test func anUnansweredCloseOfAChannelResetsTheConnection() {
        AMQPHarness.play { harness in
            try harness.broker.start()
            harness.broker.declareQueue("stuck")
            harness.broker.behavior.unansweredQueues = ["stuck"]
            let connection = harness.makeConnection()
            _ = harness.makeConsumer("stuck", on: connection)
            await harness.pass(.seconds(14))
            harness.broker.setSilent(true)
            let start = harness.loop.now.monotonic
            await harness.wait("loss") { if case .waiting = connection.status { true } else { false } }
            #expect(start.duration(to: harness.loop.now.monotonic) < .seconds(20))
            await connection.close()
        }
    }

    @Test func pausedReadingIsNoSilenceForAnotherChannel() {
        AMQPHarness.play { harness in
            try harness.broker.start()
            harness.broker.declareQueue("in")
            harness.broker.declareQueue("other")
            for number in 0..<10 {
                harness.broker.publish(
                    routingKey: "in", messageID: "\(number)", body: .init(repeating: 7, count: 40_000))
            }
            let connection = harness.makeConnection()
            let consumer = harness.makeConsumer("in", on: connection) { $0.bodyBytesInFlightMax = 50_000 }
            await harness.wait("deliveries") { harness.deliveries.count == 2 }
            let other = harness.makeConsumer("other", on: connection)
            await harness.pass(.seconds(60))
            guard case .connecting = other.status else { return fail("\(other.status)") }
            await consumer.close()
            await harness.wait("ready") { other.status == .ready }
            #expect(harness.broker.logins == 1)
            await connection.close()
        }
    }

    @Test func aNewConnectionHasTheWholeTimeoutToOpenTheChannel() {
        AMQPHarness.play { harness in
            harness.loop.network.latencyMicroseconds = 200_000...200_000
            try harness.broker.start()
            let connection = harness.makeConnection()
            let consumer = harness.makeConsumer("in", on: connection)
            for login in 1...2 {
                await harness.wait("login") { harness.broker.logins == login }
                // The broker's last answer to the login is in flight. The answer to the channel's opening never
                // arrives.
                await harness.pass(.milliseconds(100))
                harness.broker.setSilent(true)
                await harness.wait("the opening") { if case .connecting = consumer.status { true } else { false } }
                guard login == 1 else { break }
                await harness.pass(.seconds(10))
                harness.loop.network.connections[0].cut()
            }
            let start = harness.loop.now.monotonic
            await harness.wait("time-out") { if case .waiting = consumer.status { true } else { false } }
            #expect(start.duration(to: harness.loop.now.monotonic) >= .seconds(14))
            await connection.close()
        }
    }

    @Test func aChannelThatClosesSlowlyReopensAfterward() {
        AMQPHarness.play { harness in
            harness.loop.network.latencyMicroseconds = 1_000_000...1_000_000
            try harness.broker.start()
            harness.broker.declareQueue("stuck")
            harness.broker.behavior.unansweredQueues = ["stuck"]
            let connection = harness.makeConnection()
            let stuck = harness.makeConsumer("stuck", on: connection)
            await harness.wait("time-out") { if case .waiting = stuck.status { true } else { false } }
            harness.broker.behavior.unansweredQueues = []
            await harness.wait("ready") { stuck.status == .ready }
            #expect(harness.broker.logins == 1)
            await connection.close()
        }
    }

    @Test func noChannelOpensWhileTheConnectionCloses() {
        AMQPHarness.play { harness in
            harness.loop.network.latencyMicroseconds = 1_000_000...1_000_000
            try harness.broker.start()
            harness.broker.declareQueue("stuck")
            harness.broker.behavior.unansweredQueues = ["stuck"]
            let connection = harness.makeConnection()
            let stuck = harness.makeConsumer("stuck", on: connection)
            await harness.wait("connecting") { if case .connecting = stuck.status { true } else { false } }
            harness.record("stuck", stuck)
            await harness.wait("time-out") { if case .waiting = stuck.status { true } else { false } }
            // The answer to the close of the channel arrives before the answer to the close of the connection.
            await connection.close()
            #expect(harness.states == ["stuck waiting: timedOut", "stuck closed"])
        }
    }

    @Test func deliveriesToAClosingChannelAreIgnored() {
        AMQPHarness.play { harness in
            try harness.broker.start()
            harness.broker.declareQueue("in")
            harness.broker.declareQueue("other")
            harness.fill((0..<20).map { "\($0)" })
            let connection = harness.makeConnection()
            let consumer = harness.makeConsumer("in", prefetch: 5, on: connection)
            let other = harness.makeConsumer("other", on: connection)
            await harness.wait("deliveries") { harness.deliveries.count == 5 }
            // The acknowledgments let the broker send five more deliveries before it reads the close.
            for delivery in harness.deliveries { consumer.acknowledge(delivery.tag) }
            await consumer.close()
            #expect(harness.texts(in: "in") == (5..<20).map { "\($0)" })
            #expect(harness.deliveries.count == 5)
            #expect(other.status == .ready)
            #expect(harness.broker.logins == 1)
            await connection.close()
        }
    }

    @Test(arguments: 1...2) func theNodesOfAClusterAreTriedInTurn(seed: UInt64) {
        AMQPHarness.play(seed: seed) { harness in
            try harness.broker.start()
            let hosts = ["one", "two", "broker"]
            let attempts = AMQPHarness.EventLog()
            let connection = harness.makeConnection(to: hosts) { state in
                if case .connecting(let endpoint) = state { attempts.texts.append(endpoint.host) }
            }
            await harness.wait("ready") { connection.status == .ready }
            #expect(attempts.texts.count <= hosts.count)
            #expect(attempts.texts.last == "broker")
            harness.broker.crash()
            await harness.wait("attempts") { attempts.texts.count >= 3 * hosts.count }
            for first in 0...(2 * hosts.count) {
                #expect(Set(attempts.texts[first..<(first + hosts.count)]) == Set(hosts))
            }
            await connection.close()
        }
    }

    @Test func anErrorDistinguishesLostConnectionsFromFailedOnes() {
        AMQPHarness.play { harness in
            let connection = harness.makeConnection()
            let consumer = harness.makeConsumer("in", on: connection)
            let words = harness.recordFailures(of: connection)
            await harness.wait("refusal") { words.texts.count == 1 }
            #expect(consumer.status == .disconnected)
            harness.broker.declareQueue("in")
            try harness.broker.start()
            await harness.wait("ready") { consumer.status == .ready }
            let refusals = words.texts.count
            harness.loop.network.connections.last?.cut()
            await harness.wait("loss") { words.texts.count == refusals + 1 }
            #expect(consumer.status == .disconnected)
            await harness.wait("again") { consumer.status == .ready }
            harness.broker.behavior.credentials.password = "other"
            harness.broker.closeConnections()
            await harness.wait("login refused") { words.texts.last?.contains("log in") == true }
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

    @Test func theConnectionIsReadOnlyIfNoConsumerExceedsItsLimit() {
        AMQPHarness.play { harness in
            try harness.broker.start()
            for queue in ["a", "b"] {
                harness.broker.declareQueue(queue)
                for number in 0..<10 {
                    harness.broker.publish(
                        routingKey: queue, messageID: "\(queue) \(number)", body: .init(repeating: 7, count: 40_000))
                }
            }
            let connection = harness.makeConnection()
            let first = harness.makeConsumer("a", on: connection) { $0.bodyBytesInFlightMax = 50_000 }
            let second = harness.makeConsumer("b", on: connection) { $0.bodyBytesInFlightMax = 50_000 }
            await harness.pass(.seconds(120))
            #expect(harness.deliveries.count < 20)
            var settled = 0
            while settled < 20 {
                await harness.wait("delivery") { harness.deliveries.count > settled }
                let delivery = harness.deliveries[settled]
                (delivery.queue == "a" ? first : second).acknowledge(delivery.tag)
                settled += 1
            }
            await harness.wait("acks") { harness.broker.queues.allSatisfy { $0.unsettled == 0 && $0.ready.isEmpty } }
            #expect(first.bodyBytesInFlight == 0)
            #expect(second.bodyBytesInFlight == 0)
            #expect(harness.broker.logins == 1)
            await connection.close()
        }
    }

    @Test func aLostChannelResumesReading() {
        AMQPHarness.play { harness in
            try harness.broker.start()
            harness.broker.declareQueue("in")
            harness.broker.declareQueue("other")
            for number in 0..<3 {
                harness.broker.publish(
                    routingKey: "in", messageID: "\(number)", body: .init(repeating: 7, count: 40_000))
            }
            let connection = harness.makeConnection()
            let consumer = harness.makeConsumer("in", on: connection) { $0.bodyBytesInFlightMax = 50_000 }
            let other = harness.makeConsumer("other", on: connection)
            await harness.wait("deliveries") { harness.deliveries.count == 2 }
            await consumer.close()
            harness.fill(["a"], into: "other")
            await harness.wait("the other's delivery") { harness.deliveries.last?.queue == "other" }
            #expect(other.status == .ready)
            await connection.close()
        }
    }

    @Test func anAlarmDoesNotHideAMissingQueue() {
        AMQPHarness.play { harness in
            try harness.broker.start()
            harness.broker.declareQueue("in")
            harness.broker.declareQueue("out")
            let connection = harness.makeConnection()
            let consumer = harness.makeConsumer("in", on: connection)
            let publisher = Publisher(on: connection)
            publisher.start()
            #expect(await publisher.publish(AMQPHarness.message("a")) == .confirmed)
            await harness.wait("ready") { consumer.status == .ready }
            harness.record("consumer", consumer)
            harness.broker.deleteQueue("in")
            await harness.wait("cancel") { harness.states == ["consumer waiting: consumerCancelled"] }
            harness.broker.raiseAlarm("low on memory")
            await harness.wait("blocked") { publisher.status == .blocked(reason: "low on memory") }
            harness.broker.clearAlarm()
            await harness.wait("unblocked") { publisher.status == .ready }
            await harness.pass(.seconds(60))
            #expect(!harness.states.contains("consumer ready"))
            harness.broker.declareQueue("in")
            await harness.wait("again") { consumer.status == .ready }
            await connection.close()
        }
    }

    @Test func moreChannelsThanTheBrokerAllowsAreReported() {
        AMQPHarness.play { harness in
            harness.broker.behavior.channelMax = 1
            try harness.broker.start()
            harness.broker.declareQueue("in")
            let connection = harness.makeConnection()
            let first = harness.makeConsumer("in", on: connection)
            let second = harness.makeConsumer("in", on: connection)
            let start = harness.loop.now.monotonic
            for _ in 0..<2 {
                let error = await #expect(throws: AMQPError.self) {
                    try await second.waitUntilReady(deadlineSeconds: 600)
                }
                #expect(
                    error?.message
                        == "the connection needs 2 channels and the broker allows 1; set channel_max = 2 or more in "
                        + "rabbitmq.conf")
            }
            #expect(start.duration(to: harness.loop.now.monotonic) < .seconds(1), "the wait did not end with the error")
            await harness.wait("ready") { first.status == .ready }
            await connection.close()
        }
    }

    @Test func closingAnAbandonedChannelHasItsOwnDeadline() {
        AMQPHarness.play { harness in
            harness.connection.heartbeatSeconds = 0
            try harness.broker.start()
            harness.broker.declareQueue("in")
            let connection = harness.makeConnection()
            let consumer = harness.makeConsumer("in", on: connection)
            try await consumer.waitUntilReady(deadlineSeconds: 10)
            harness.broker.setSilent(true)
            consumer.pause()
            await harness.wait("given up", limit: .seconds(20)) { consumer.status != .ready }
            let start = harness.loop.now.monotonic
            await consumer.close(deadlineSeconds: 60)
            #expect(start.duration(to: harness.loop.now.monotonic) >= .seconds(60))
            #expect(connection.status == .ready, "the close of a channel affected the connection")
        }
    }
}
