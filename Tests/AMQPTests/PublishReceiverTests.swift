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
        private(set) var isToldWithinAnother = false
        private var isBeingTold = false
        private var published = 0

        init(_ publisher: Publisher) { self.publisher = publisher }

        func publish() {
            published += 1
            publisher.publish(Scene.message("\(published)"), self)
        }

        override func published(_ outcome: PublishOutcome) {
            if isBeingTold { isToldWithinAnother = true }
            isBeingTold = true
            defer { isBeingTold = false }
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

    /// However many one confirm is for: each would be a call deeper than the one before.
    @Test func whoeverIsToldOfOneConfirmIsToldAfterTheOther() {
        Scene.play { scene in
            try scene.broker.start()
            scene.broker.declareQueue("out")
            scene.broker.behaviour.confirmDelayMilliseconds = 1000...1000
            scene.broker.behaviour.multipleConfirmPercent = 100
            let publisher = try await scene.readyPublisher()
            let repeater = Repeater(publisher)
            for _ in 0..<Self.count / 2 { repeater.publish() }
            await scene.wait("confirms") { repeater.outcomes.count == Self.count }
            #expect(!repeater.isToldWithinAnother)
            await publisher.close()
        }
    }

    /// How a channel ends on which ten messages are not confirmed.
    enum Ending: CaseIterable {
        case crash, closedByBroker, lateConfirms
    }

    /// What it publishes then is another's turn: it waits for the next channel.
    @Test(arguments: Ending.allCases) func whoIsToldOfALostChannelMayPublish(ending: Ending) {
        Scene.play { scene in
            try scene.broker.start()
            scene.broker.declareQueue("out")
            scene.broker.behaviour.confirmDelayMilliseconds = 1_000_000...1_000_000
            let publisher = try await scene.readyPublisher()
            let repeater = Repeater(publisher)
            for _ in 0..<10 { repeater.publish() }
            await scene.wait("arrival") { scene.texts(in: "out").count == 10 }
            scene.broker.behaviour.confirmDelayMilliseconds = 0...0
            switch ending {
            case .crash:
                scene.broker.crash()
                try scene.broker.start()
            case .closedByBroker:
                scene.broker.closeChannels(541, "INTERNAL_ERROR")
            case .lateConfirms:
                break
            }
            await scene.wait("confirms") { repeater.outcomes.count == Self.count }
            #expect(repeater.outcomes.filter { $0 == .confirmed }.count == Self.count - 10)
            #expect(!repeater.isToldWithinAnother)
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
            #expect(!repeater.isToldWithinAnother)
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
