import EventLoop
import TestKit
import Testing

@testable import AMQP

/// What is published while an exchange is missing, to it and to others.
@Suite struct MissingExchangesTests {
    @Test func aMissingExchangeMakesAllUnderWayUnknownAndNoneAfter() {
        Scene.play { scene in
            try scene.broker.start()
            scene.broker.declareQueue("out")
            let publisher = try await scene.readyPublisher()
            scene.publish(Scene.message("a", exchange: "missing"), publisher)
            scene.publish(Scene.message("b"), publisher)
            await scene.wait("outcomes") { scene.outcomes.count == 2 }
            for id in ["a", "b"] {
                guard case .unknown(let error) = scene.outcomes[id] else { return fail("\(scene.outcomes)") }
                #expect(error.code == .notFound)
            }
            #expect(await publisher.publish(Scene.message("c")) == .confirmed)
            await publisher.close()
        }
    }

    /// Each publish to it costs the channel; that must not cost the others their confirms again and again.
    @Test(arguments: 1...5) func whatIsForOthersArrivesOnceWhileAnExchangeIsMissing(seed: UInt64) {
        Scene.play(seed: seed) { scene in
            try scene.broker.start()
            scene.broker.declareQueue("out")
            scene.broker.behaviour.confirmDelayMilliseconds = 0...300
            let publisher = try await scene.readyPublisher()
            let known = await publisher.publish(Scene.message("known", exchange: "gone"))
            guard case .unknown = known else { return fail("\(known)") }

            let others = (0..<100).map { Scene.message("other \($0)") }
            let messages = others + (0..<20).map { Scene.message("late \($0)", exchange: "gone") }
            var tries = messages.map { _ in 0 }
            for round in 0..<600 {
                if round == 300 {
                    scene.broker.declareExchange("gone", .direct)
                    scene.broker.declareQueue("late")
                    scene.broker.bindQueue("late", toExchange: "gone", routingKey: "out")
                }
                for (index, message) in messages.enumerated() where index <= round {
                    let last = scene.outcomes["\(index) \(tries[index])"]
                    if last == .confirmed || tries[index] > 0 && last == nil { continue }
                    tries[index] += 1
                    scene.publish(message, publisher, as: "\(index) \(tries[index])")
                }
                await scene.pass(.milliseconds(200))
            }
            #expect(scene.texts(in: "out").sorted() == others.map(\.messageID).sorted())
            #expect(scene.texts(in: "late").sorted() == messages.dropFirst(100).map(\.messageID).sorted())
            await publisher.close()
        }
    }

    @Test func anExchangeThatIsThereAgainIsPublishedToAsAnyOther() {
        Scene.play { scene in
            try scene.broker.start()
            let publisher = try await scene.readyPublisher()
            let known = await publisher.publish(Scene.message("known", exchange: "gone"))
            guard case .unknown = known else { return fail("\(known)") }
            scene.broker.declareExchange("gone", .direct)
            scene.broker.declareQueue("out")
            scene.broker.bindQueue("out", toExchange: "gone", routingKey: "out")
            #expect(await publisher.publish(Scene.message("alone", exchange: "gone")) == .confirmed)
            scene.broker.behaviour.confirmDelayMilliseconds = 1000...1000
            for id in ["a", "b"] { scene.publish(Scene.message(id, exchange: "gone"), publisher) }
            await scene.pass(.milliseconds(500))
            #expect(publisher.unconfirmedCount == 2)
            await scene.wait("outcomes") { scene.outcomes == ["a": .confirmed, "b": .confirmed] }
            await publisher.close()
        }
    }

    @Test func whatIsForOthersIsNotSentWithWhatIsTried() {
        Scene.play { scene in
            try scene.broker.start()
            scene.broker.declareQueue("out")
            let publisher = scene.makePublisher()
            _ = await publisher.publish(Scene.message("known", exchange: "gone"))
            try await publisher.waitUntilReady(deadlineSeconds: 10)
            scene.publish(Scene.message("tried", exchange: "gone"), publisher)
            scene.publish(Scene.message("other"), publisher)
            await scene.wait("outcomes") { scene.outcomes.count == 2 }
            guard case .unknown = scene.outcomes["tried"] else { return fail("\(scene.outcomes)") }
            #expect(scene.outcomes["other"] == .confirmed)
            await publisher.close()
        }
    }

    @Test func whereOneHasArrivedAllOthersGo() {
        Scene.play { scene in
            try scene.broker.start()
            let publisher = scene.makePublisher()
            _ = await publisher.publish(Scene.message("known", exchange: "gone"))
            scene.broker.declareExchange("gone", .direct)
            scene.broker.declareQueue("out")
            scene.broker.bindQueue("out", toExchange: "gone", routingKey: "out")
            scene.broker.behaviour.confirmDelayMilliseconds = 1000...1000
            for id in ["a", "b", "c"] { scene.publish(Scene.message(id, exchange: "gone"), publisher) }
            await scene.wait("the first") { scene.outcomes == ["a": .confirmed] }
            #expect(publisher.unconfirmedCount == 2)
            await publisher.close()
        }
    }
}
