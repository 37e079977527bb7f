import EventLoop
import TestKit
import Testing

@testable import AMQP

/// Whom a publisher tells what became of a message, without a task that waits.
struct PublishReceiverTests {
    private static let count = 100

    /// Publishes one more whenever it is told, until it has published so many.
    private final class Repeater: PublishReceiver {
        private let publisher: Publisher
        private(set) var outcomes: [PublishOutcome] = []
        private var published = 0

        init(_ publisher: Publisher) { self.publisher = publisher }

        func publish() {
            published += 1
            publisher.publish(Scene.message("\(published)"), self)
        }

        override func published(_ outcome: PublishOutcome) {
            outcomes.append(outcome)
            if published < PublishReceiverTests.count { publish() }
        }
    }

    @Test func whoIsToldOfAConfirmMayPublish() {
        Scene.play { scene in
            try scene.broker.start()
            scene.broker.declareQueue("out")
            let publisher = try await scene.readyPublisher()
            let repeater = Repeater(publisher)
            for _ in 0..<10 { repeater.publish() }
            await scene.wait("confirms") { repeater.outcomes.count == Self.count }
            #expect(repeater.outcomes.allSatisfy { $0 == .confirmed })
            #expect(scene.texts(in: "out").count == Self.count)
            await publisher.close()
        }
    }

    /// What it publishes when it is told that the channel is lost is another's turn: it waits for the next channel.
    @Test func whoIsToldOfALostConnectionMayPublish() {
        Scene.play { scene in
            try scene.broker.start()
            scene.broker.declareQueue("out")
            let publisher = try await scene.readyPublisher()
            scene.broker.setSilent(true)
            let repeater = Repeater(publisher)
            for _ in 0..<10 { repeater.publish() }
            await scene.pass(.seconds(1))
            scene.broker.crash()
            await scene.wait("outcomes") { repeater.outcomes.count == 10 }
            try scene.broker.start()
            scene.broker.setSilent(false)
            await scene.wait("confirms") { repeater.outcomes.count == Self.count }
            #expect(repeater.outcomes.filter { $0 == .confirmed }.count == Self.count - 10)
            await publisher.close()
        }
    }

    /// Nothing is sent after the end, and who publishes then is told at once, however often.
    @Test func whoIsToldThatThePublisherIsClosedMayPublish() {
        Scene.play { scene in
            try scene.broker.start()
            let publisher = try await scene.readyPublisher()
            await publisher.close()
            let repeater = Repeater(publisher)
            repeater.publish()
            #expect(repeater.outcomes.count == Self.count)
            #expect(repeater.outcomes.allSatisfy { if case .notSent = $0 { true } else { false } })
        }
    }

    @Test func aReceiverIsHeldUntilItIsToldAndNoLonger() {
        Scene.play { scene in
            try scene.broker.start()
            scene.broker.declareQueue("out")
            let publisher = try await scene.readyPublisher()
            weak var held: Repeater?
            do {
                let repeater = Repeater(publisher)
                for _ in 0..<Self.count { repeater.publish() }
                held = repeater
            }
            #expect(held != nil)
            await scene.wait("confirms") { held == nil }
            await publisher.close()
        }
    }
}
