import EventLoop
import TestKit
import Testing

@testable import AMQP

/// A broker that takes messages late, or confirms them late, or never.
@Suite struct PublisherPatienceTests {
    @Test func anAlarmOfTheBrokerHoldsMessagesBack() {
        Scene.play { scene in
            try scene.broker.start()
            scene.broker.declareQueue("out")
            let publisher = scene.makePublisher()
            scene.broker.raiseAlarm("low on memory")
            // The broker says so only to who publishes.
            #expect(await publisher.publish(Scene.message("a")) == .confirmed)
            await scene.wait("blocked") { publisher.status == .blocked(reason: "low on memory") }
            scene.publish(Scene.message("b"), publisher)
            await scene.pass(.seconds(20))
            #expect(publisher.waitingCount == 1)
            scene.broker.clearAlarm()
            await scene.wait("outcome") { scene.outcomes.count == 1 }
            #expect(scene.outcomes == ["b": .confirmed])
            #expect(publisher.status == .ready)
            await publisher.close()
        }
    }

    /// What the broker did not read is answered only when the alarm is over.
    @Test func aLongAlarmDoesNotCostTheChannel() {
        Scene.play { scene in
            try scene.broker.start()
            scene.broker.declareQueue("out")
            let publisher = scene.makePublisher { $0.confirmTimeoutSeconds = 10 }
            try await publisher.waitUntilReady(deadlineSeconds: 10)
            scene.broker.behaviour.confirmDelayMilliseconds = 50_000...50_000
            scene.publish(Scene.message("a"), publisher)
            await scene.wait("a to be sent") { publisher.unconfirmedCount == 1 }
            await scene.pass(.seconds(1))
            scene.broker.behaviour.confirmDelayMilliseconds = 0...0
            scene.broker.raiseAlarm("low on memory")
            await scene.pass(.seconds(45))
            scene.broker.clearAlarm()
            await scene.wait("the end of the alarm") { publisher.status == .ready }
            #expect(await publisher.publish(Scene.message("b")) == .confirmed)
            await scene.wait("the confirm") { publisher.unconfirmedCount == 0 }
            #expect(!scene.states.contains("publisher waiting: timedOut"))
            await publisher.close()
        }
    }

    @Test func anAlarmOutlivesTheChannel() {
        Scene.play { scene in
            try scene.broker.start()
            scene.broker.declareQueue("out")
            let publisher = try await scene.readyPublisher()
            scene.broker.raiseAlarm("low on memory")
            // Blocked by its first publish, which also costs it the channel.
            _ = await publisher.publish(Scene.message("a", exchange: "missing"))
            await scene.pass(.seconds(5))
            scene.broker.clearAlarm()
            #expect(await publisher.publish(Scene.message("b")) == .confirmed)
            #expect(publisher.status == .ready)
            await publisher.close()
        }
    }

    @Test func anAlarmEndsWithTheConnection() {
        Scene.play { scene in
            try scene.broker.start()
            scene.broker.declareQueue("out")
            let publisher = scene.makePublisher()
            scene.broker.raiseAlarm("low on memory")
            _ = await publisher.publish(Scene.message("a"))
            await scene.wait("blocked") { publisher.status == .blocked(reason: "low on memory") }
            scene.loop.network.connections[0].cut()
            scene.broker.clearAlarm()
            #expect(await publisher.publish(Scene.message("b")) == .confirmed)
            #expect(publisher.status == .ready)
            await publisher.close()
        }
    }

    @Test func anAlarmThatLastsIsTheReasonWhy() {
        Scene.play { scene in
            try scene.broker.start()
            scene.broker.declareQueue("out")
            let publisher = scene.makePublisher { $0.publishTimeoutSeconds = 3 }
            scene.broker.raiseAlarm("low on disk")
            _ = await publisher.publish(Scene.message("a"))
            await scene.wait("blocked") { publisher.status == .blocked(reason: "low on disk") }
            guard case .notSent(let error) = await publisher.publish(Scene.message("b")) else {
                return fail("sent")
            }
            #expect(error.message.contains("low on disk"))
            await publisher.close()
        }
    }

    @Test func aConfirmThatNeverComesIsUnknownAndThenCostsTheChannel() {
        Scene.play { scene in
            try scene.broker.start()
            scene.broker.declareQueue("out")
            scene.broker.behaviour.confirmDelayMilliseconds = 1_000_000...1_000_000
            let publisher = scene.makePublisher { $0.confirmTimeoutSeconds = 10 }
            scene.publish(Scene.message("a"), publisher)
            await scene.wait("a to be sent") { publisher.unconfirmedCount == 1 }
            scene.broker.behaviour.confirmDelayMilliseconds = 0...0
            for number in 1...4 {
                await scene.pass(.seconds(4))
                #expect(await publisher.publish(Scene.message("\(number)")) == .confirmed)
            }
            guard case .unknown(let error) = scene.outcomes["a"] else { return fail("confirmed") }
            #expect(error.code == .timedOut)
            #expect(publisher.unconfirmedCount == 1)
            #expect(publisher.status == .ready)
            await scene.expectAnotherChannel(of: publisher, within: .seconds(5))
        }
    }

    /// As that of RabbitMQ 3.10 does whose queue's leader was cut off from the others.
    @Test func aChannelThatConfirmsNothingIsReplacedAsSoonAsAConfirmIsLate() {
        Scene.play { scene in
            try scene.broker.start()
            scene.broker.declareQueue("out")
            scene.broker.behaviour.confirmDelayMilliseconds = 1000...1000
            let publisher = scene.makePublisher { $0.confirmTimeoutSeconds = 10 }
            scene.publish(Scene.message("before"), publisher)
            await scene.pass(.milliseconds(500))
            scene.broker.behaviour.confirmDelayMilliseconds = 1_000_000...1_000_000
            // Sent before the one before it is confirmed.
            guard case .unknown = await publisher.publish(Scene.message("a")) else { return fail("confirmed") }
            #expect(scene.outcomes["before"] == .confirmed)
            scene.broker.behaviour.confirmDelayMilliseconds = 0...0
            await scene.expectAnotherChannel(of: publisher, within: .seconds(1))
        }
    }

    /// As that of RabbitMQ 3.10 does which calls a node that was cut off for each message, and waits 7 s for it each time.
    @Test func aChannelThatRefusesOneAfterTheOtherIsLeftWithItsConnection() {
        Scene.play { scene in
            try scene.broker.start()
            scene.broker.declareQueue("out")
            scene.broker.behaviour.opensRefusingChannels = true
            scene.broker.behaviour.refusalSeconds = 7
            let publisher = try await scene.readyPublisher()
            scene.broker.behaviour.opensRefusingChannels = false
            for number in 0..<40 { scene.publish(Scene.message("\(number)"), publisher) }
            // Refused after 7, 14 and 21 s, which is for more than 10; the close is answered after none of the others.
            await scene.wait("all outcomes", limit: .seconds(22)) { scene.outcomes.count == 40 }
            #expect(scene.outcomes.values.count { $0 == .nacked } == 3)
            await scene.wait("another connection", limit: .seconds(5)) { scene.broker.logins == 2 }
            #expect(await publisher.publish(Scene.message("b")) == .confirmed)
            await publisher.close()
        }
    }

    @Test func eachConfirmHasItsOwnTime() {
        Scene.play { scene in
            try scene.broker.start()
            scene.broker.declareQueue("out")
            let publisher = scene.makePublisher { $0.confirmTimeoutSeconds = 10 }
            try await publisher.waitUntilReady(deadlineSeconds: 10)
            scene.broker.behaviour.confirmDelayMilliseconds = 1_000_000...1_000_000
            scene.publish(Scene.message("a"), publisher)
            await scene.pass(.seconds(5))
            scene.broker.behaviour.confirmDelayMilliseconds = 0...0
            #expect(await publisher.publish(Scene.message("another")) == .confirmed)
            scene.broker.behaviour.confirmDelayMilliseconds = 1_000_000...1_000_000
            scene.publish(Scene.message("b"), publisher)
            await scene.pass(.seconds(6))
            #expect(Array(scene.outcomes.keys) == ["a"])
            await scene.pass(.seconds(5))
            #expect(scene.outcomes.count == 2)
            await publisher.close()
        }
    }
}

extension Scene {
    /// On the same connection, where messages are confirmed.
    fileprivate func expectAnotherChannel(of publisher: Publisher, within limit: Duration) async {
        await wait("another channel", limit: limit) { states.contains("publisher waiting: timedOut") }
        #expect(publisher.unconfirmedCount == 0)
        #expect(await publisher.publish(Self.message("b")) == .confirmed)
        #expect(broker.logins == 1)
        await publisher.close()
    }
}
