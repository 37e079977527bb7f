import EventLoop
import TestKit
import Testing

@testable import AMQP

/// Publishes to a missing exchange and, at the same time, to other exchanges.
@Suite struct MissingExchangesTests {
    @Test func aMissingExchangeMakesOnlyMessagesInFlightUnknown() {
        AMQPHarness.play { harness in
            try harness.broker.start()
            harness.broker.declareQueue("out")
            let publisher = try await harness.readyPublisher()
            harness.publish(AMQPHarness.message("a", exchange: "missing"), publisher)
            harness.publish(AMQPHarness.message("b"), publisher)
            await harness.wait("outcomes") { harness.outcomes.count == 2 }
            for id in ["a", "b"] {
                guard case .unknown(let error) = harness.outcomes[id] else { return fail("\(harness.outcomes)") }
                #expect(error.code == .notFound)
            }
            #expect(await publisher.publish(AMQPHarness.message("c")) == .confirmed)
            await publisher.close()
        }
    }

    // Each publish to the missing exchange closes the channel. Other messages must not lose their confirms repeatedly.
    @Test(arguments: 1...5) func messagesToOtherExchangesArriveOnce(seed: UInt64) {
        AMQPHarness.play(seed: seed) { harness in
            try harness.broker.start()
            harness.broker.declareQueue("out")
            harness.broker.behavior.confirmDelayMilliseconds = 0...300
            let publisher = try await harness.readyPublisher()
            let known = await publisher.publish(AMQPHarness.message("known", exchange: "gone"))
            guard case .unknown = known else { return fail("\(known)") }

            let others = (0..<100).map { AMQPHarness.message("other \($0)") }
            let messages = others + (0..<20).map { AMQPHarness.message("late \($0)", exchange: "gone") }
            var tries = messages.map { _ in 0 }
            for round in 0..<600 {
                if round == 300 {
                    harness.broker.declareExchange("gone", .direct)
                    harness.broker.declareQueue("late")
                    harness.broker.bindQueue("late", toExchange: "gone", routingKey: "out")
                }
                for (index, message) in messages.enumerated() where index <= round {
                    let last = harness.outcomes["\(index) \(tries[index])"]
                    if last == .confirmed || tries[index] > 0 && last == nil { continue }
                    tries[index] += 1
                    harness.publish(message, publisher, as: "\(index) \(tries[index])")
                }
                await harness.pass(.milliseconds(200))
            }
            #expect(harness.texts(in: "out").sorted() == others.map(\.messageID).sorted())
            #expect(harness.texts(in: "late").sorted() == messages.dropFirst(100).map(\.messageID).sorted())
            await publisher.close()
        }
    }

    @Test func aRestoredExchangeIsUsedLikeAnyOther() {
        AMQPHarness.play { harness in
            try harness.broker.start()
            let publisher = try await harness.readyPublisher()
            let known = await publisher.publish(AMQPHarness.message("known", exchange: "gone"))
            guard case .unknown = known else { return fail("\(known)") }
            harness.broker.declareExchange("gone", .direct)
            harness.broker.declareQueue("out")
            harness.broker.bindQueue("out", toExchange: "gone", routingKey: "out")
            #expect(await publisher.publish(AMQPHarness.message("alone", exchange: "gone")) == .confirmed)
            harness.broker.behavior.confirmDelayMilliseconds = 1000...1000
            for id in ["a", "b"] { harness.publish(AMQPHarness.message(id, exchange: "gone"), publisher) }
            await harness.pass(.milliseconds(500))
            #expect(publisher.unconfirmedCount == 2)
            await harness.wait("outcomes") { harness.outcomes == ["a": .confirmed, "b": .confirmed] }
            await publisher.close()
        }
    }

    @Test func noOtherMessageIsSentWithATrial() {
        AMQPHarness.play { harness in
            try harness.broker.start()
            harness.broker.declareQueue("out")
            let publisher = harness.makePublisher()
            _ = await publisher.publish(AMQPHarness.message("known", exchange: "gone"))
            try await publisher.waitUntilReady(deadlineSeconds: 10)
            harness.publish(AMQPHarness.message("trial", exchange: "gone"), publisher)
            harness.publish(AMQPHarness.message("other"), publisher)
            await harness.wait("outcomes") { harness.outcomes.count == 2 }
            guard case .unknown = harness.outcomes["trial"] else { return fail("\(harness.outcomes)") }
            #expect(harness.outcomes["other"] == .confirmed)
            await publisher.close()
        }
    }

    @Test func waitingMessagesFollowASuccessfulTrial() {
        AMQPHarness.play { harness in
            try harness.broker.start()
            let publisher = harness.makePublisher()
            _ = await publisher.publish(AMQPHarness.message("known", exchange: "gone"))
            harness.broker.declareExchange("gone", .direct)
            harness.broker.declareQueue("out")
            harness.broker.bindQueue("out", toExchange: "gone", routingKey: "out")
            harness.broker.behavior.confirmDelayMilliseconds = 1000...1000
            for id in ["a", "b", "c"] { harness.publish(AMQPHarness.message(id, exchange: "gone"), publisher) }
            await harness.wait("the first") { harness.outcomes == ["a": .confirmed] }
            #expect(publisher.unconfirmedCount == 2)
            await publisher.close()
        }
    }
}
