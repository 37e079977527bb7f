import EventLoop
import TestKit
import Testing

@testable import AMQP

/// A broker that accepts or confirms messages late or never.
@Suite struct PublisherTimeoutTests {
    @Test func messagesWaitDuringAnAlarm() {
        AMQPHarness.play { harness in
            try harness.broker.start()
            harness.broker.declareQueue("out")
            let publisher = harness.makePublisher()
            harness.broker.raiseAlarm("low on memory")
            // The broker reports an alarm only on a connection that publishes.
            #expect(await publisher.publish(AMQPHarness.message("a")) == .confirmed)
            await harness.wait("blocked") { publisher.status == .blocked(reason: "low on memory") }
            harness.publish(AMQPHarness.message("b"), publisher)
            await harness.pass(.seconds(20))
            #expect(publisher.waitingCount == 1)
            harness.broker.clearAlarm()
            await harness.wait("outcome") { harness.outcomes.count == 1 }
            #expect(harness.outcomes == ["b": .confirmed])
            #expect(publisher.status == .ready)
            await publisher.close()
        }
    }

    // During an alarm, the broker reads no messages, so it confirms messages in transit only after the alarm.
    @Test func aLongAlarmDoesNotCloseTheChannel() {
        AMQPHarness.play { harness in
            try harness.broker.start()
            harness.broker.declareQueue("out")
            let publisher = harness.makePublisher { $0.confirmTimeoutSeconds = 10 }
            try await publisher.waitUntilReady(deadlineSeconds: 10)
            harness.broker.behavior.confirmDelayMilliseconds = 50_000...50_000
            harness.publish(AMQPHarness.message("a"), publisher)
            await harness.wait("a to be sent") { publisher.unconfirmedCount == 1 }
            await harness.pass(.seconds(1))
            harness.broker.behavior.confirmDelayMilliseconds = 0...0
            harness.broker.raiseAlarm("low on memory")
            await harness.pass(.seconds(45))
            harness.broker.clearAlarm()
            await harness.wait("the end of the alarm") { publisher.status == .ready }
            #expect(await publisher.publish(AMQPHarness.message("b")) == .confirmed)
            await harness.wait("the confirm") { publisher.unconfirmedCount == 0 }
            #expect(!harness.states.contains("publisher waiting: timedOut"))
            await publisher.close()
        }
    }

    @Test func anAlarmOutlivesTheChannel() {
        AMQPHarness.play { harness in
            try harness.broker.start()
            harness.broker.declareQueue("out")
            let publisher = try await harness.readyPublisher()
            harness.broker.raiseAlarm("low on memory")
            // The broker reports the alarm at this publish, and closes the channel, because the exchange is missing.
            _ = await publisher.publish(AMQPHarness.message("a", exchange: "missing"))
            await harness.pass(.seconds(5))
            harness.broker.clearAlarm()
            #expect(await publisher.publish(AMQPHarness.message("b")) == .confirmed)
            #expect(publisher.status == .ready)
            await publisher.close()
        }
    }

    @Test func anAlarmEndsWithTheConnection() {
        AMQPHarness.play { harness in
            try harness.broker.start()
            harness.broker.declareQueue("out")
            let publisher = harness.makePublisher()
            harness.broker.raiseAlarm("low on memory")
            _ = await publisher.publish(AMQPHarness.message("a"))
            await harness.wait("blocked") { publisher.status == .blocked(reason: "low on memory") }
            harness.loop.network.connections[0].cut()
            harness.broker.clearAlarm()
            #expect(await publisher.publish(AMQPHarness.message("b")) == .confirmed)
            #expect(publisher.status == .ready)
            await publisher.close()
        }
    }

    @Test func aLongAlarmIsTheReasonOfTheOutcome() {
        AMQPHarness.play { harness in
            try harness.broker.start()
            harness.broker.declareQueue("out")
            let publisher = harness.makePublisher { $0.publishTimeoutSeconds = 3 }
            harness.broker.raiseAlarm("low on disk")
            _ = await publisher.publish(AMQPHarness.message("a"))
            await harness.wait("blocked") { publisher.status == .blocked(reason: "low on disk") }
            guard case .notSent(let error) = await publisher.publish(AMQPHarness.message("b")) else {
                return fail("the message was sent")
            }
            #expect(error.message.contains("low on disk"))
            await publisher.close()
        }
    }

    @Test func aMissingConfirmIsUnknownAndReplacesTheChannel() {
        AMQPHarness.play { harness in
            try harness.broker.start()
            harness.broker.declareQueue("out")
            harness.broker.behavior.confirmDelayMilliseconds = 1_000_000...1_000_000
            let publisher = harness.makePublisher { $0.confirmTimeoutSeconds = 10 }
            harness.publish(AMQPHarness.message("a"), publisher)
            await harness.wait("a to be sent") { publisher.unconfirmedCount == 1 }
            harness.broker.behavior.confirmDelayMilliseconds = 0...0
            for number in 1...4 {
                await harness.pass(.seconds(4))
                #expect(await publisher.publish(AMQPHarness.message("\(number)")) == .confirmed)
            }
            guard case .unknown(let error) = harness.outcomes["a"] else { return fail("the message was confirmed") }
            #expect(error.code == .timedOut)
            #expect(publisher.unconfirmedCount == 1)
            #expect(publisher.status == .ready)
            await harness.expectAnotherChannel(of: publisher, within: .seconds(5))
        }
    }

    // RabbitMQ 3.10 sends no confirms while a queue's leader is cut off from the other nodes.
    @Test func aChannelWithoutConfirmsIsReplacedOnceAConfirmIsLate() {
        AMQPHarness.play { harness in
            try harness.broker.start()
            harness.broker.declareQueue("out")
            harness.broker.behavior.confirmDelayMilliseconds = 1000...1000
            let publisher = harness.makePublisher { $0.confirmTimeoutSeconds = 10 }
            harness.publish(AMQPHarness.message("before"), publisher)
            await harness.pass(.milliseconds(500))
            harness.broker.behavior.confirmDelayMilliseconds = 1_000_000...1_000_000
            // This message is sent before the first message is confirmed.
            guard case .unknown = await publisher.publish(AMQPHarness.message("a")) else {
                return fail("the message was confirmed")
            }
            #expect(harness.outcomes["before"] == .confirmed)
            harness.broker.behavior.confirmDelayMilliseconds = 0...0
            await harness.expectAnotherChannel(of: publisher, within: .seconds(1))
        }
    }

    // If a node was cut off, a RabbitMQ 3.10 channel may wait 7 s for each message. It then refuses the message.
    @Test func aChannelThatRefusesSlowlyIsReplacedWithItsConnection() {
        AMQPHarness.play { harness in
            try harness.broker.start()
            harness.broker.declareQueue("out")
            harness.broker.behavior.opensRefusingChannels = true
            harness.broker.behavior.refusalSeconds = 7
            let publisher = try await harness.readyPublisher()
            harness.broker.behavior.opensRefusingChannels = false
            for number in 0..<40 { harness.publish(AMQPHarness.message("\(number)"), publisher) }
            // The broker refuses messages after 7, 14 and 21 s, and thus for more than 10 s. It does not answer the
            // close in time.
            await harness.wait("all outcomes", limit: .seconds(22)) { harness.outcomes.count == 40 }
            #expect(harness.outcomes.values.count { $0 == .nacked } == 3)
            await harness.wait("another connection", limit: .seconds(5)) { harness.broker.logins == 2 }
            #expect(await publisher.publish(AMQPHarness.message("b")) == .confirmed)
            await publisher.close()
        }
    }

    @Test func eachConfirmHasItsOwnTimeout() {
        AMQPHarness.play { harness in
            try harness.broker.start()
            harness.broker.declareQueue("out")
            let publisher = harness.makePublisher { $0.confirmTimeoutSeconds = 10 }
            try await publisher.waitUntilReady(deadlineSeconds: 10)
            harness.broker.behavior.confirmDelayMilliseconds = 1_000_000...1_000_000
            harness.publish(AMQPHarness.message("a"), publisher)
            await harness.pass(.seconds(5))
            harness.broker.behavior.confirmDelayMilliseconds = 0...0
            #expect(await publisher.publish(AMQPHarness.message("another")) == .confirmed)
            harness.broker.behavior.confirmDelayMilliseconds = 1_000_000...1_000_000
            harness.publish(AMQPHarness.message("b"), publisher)
            await harness.pass(.seconds(6))
            #expect(Array(harness.outcomes.keys) == ["a"])
            await harness.pass(.seconds(5))
            #expect(harness.outcomes.count == 2)
            await publisher.close()
        }
    }
}

extension AMQPHarness {
    /// Expects that the publisher replaces its channel on the same connection, and that messages are confirmed on the
    /// new channel. Closes the publisher.
    fileprivate func expectAnotherChannel(of publisher: Publisher, within limit: Duration) async {
        await wait("another channel", limit: limit) { states.contains("publisher waiting: timedOut") }
        #expect(publisher.unconfirmedCount == 0)
        #expect(await publisher.publish(Self.message("b")) == .confirmed)
        #expect(broker.logins == 1)
        await publisher.close()
    }
}
