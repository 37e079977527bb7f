import EventLoop
import TestKit
import Testing

@testable import AMQP

/// Receivers that are notified of outcomes, without waiting tasks.
struct PublishReceiverTests {
    private static let count = 100

    /// A receiver that publishes another message after each outcome, up to `count` messages.
    private final class Repeater: PublishReceiver {
        private let publisher: Publisher
        private(set) var outcomes: [PublishOutcome] = []
        private(set) var isNotifiedWithinAnother = false
        private var isBeingNotified = false
        private var published = 0

        init(_ publisher: Publisher) { self.publisher = publisher }

        func publish() {
            published += 1
            publisher.publish(AMQPHarness.message("\(published)"), self)
        }

        override func published(_ outcome: PublishOutcome) {
            if isBeingNotified { isNotifiedWithinAnother = true }
            isBeingNotified = true
            defer { isBeingNotified = false }
            outcomes.append(outcome)
            if published < PublishReceiverTests.count { publish() }
        }
    }

    @Test func aReceiverOfAConfirmMayPublish() {
        AMQPHarness.play { harness in
            try harness.broker.start()
            harness.broker.declareQueue("out")
            let publisher = try await harness.readyPublisher()
            let repeater = Repeater(publisher)
            for _ in 0..<10 { repeater.publish() }
            await harness.wait("confirms") { repeater.outcomes.count == Self.count }
            #expect(repeater.outcomes.allSatisfy { $0 == .confirmed })
            #expect(harness.texts(in: "out").count == Self.count)
            await publisher.close()
        }
    }

    // One confirm may cover many messages. With nested calls, the stack would grow with each message.
    @Test func receiversOfOneConfirmAreNotNested() {
        AMQPHarness.play { harness in
            try harness.broker.start()
            harness.broker.declareQueue("out")
            harness.broker.behavior.confirmDelayMilliseconds = 1000...1000
            harness.broker.behavior.multipleConfirmPercent = 100
            let publisher = try await harness.readyPublisher()
            let repeater = Repeater(publisher)
            for _ in 0..<Self.count / 2 { repeater.publish() }
            await harness.wait("confirms") { repeater.outcomes.count == Self.count }
            #expect(!repeater.isNotifiedWithinAnother)
            await publisher.close()
        }
    }

    /// The cause of the end of a channel with ten unconfirmed messages.
    enum ChannelEnd: CaseIterable {
        case crash, closedByBroker, lateConfirms
    }

    // The new messages wait for the next channel.
    @Test(arguments: ChannelEnd.allCases) func aReceiverOfALostChannelMayPublish(end: ChannelEnd) {
        AMQPHarness.play { harness in
            try harness.broker.start()
            harness.broker.declareQueue("out")
            harness.broker.behavior.confirmDelayMilliseconds = 1_000_000...1_000_000
            let publisher = try await harness.readyPublisher()
            let repeater = Repeater(publisher)
            for _ in 0..<10 { repeater.publish() }
            await harness.wait("arrival") { harness.texts(in: "out").count == 10 }
            harness.broker.behavior.confirmDelayMilliseconds = 0...0
            switch end {
            case .crash:
                harness.broker.crash()
                try harness.broker.start()
            case .closedByBroker:
                harness.broker.closeChannels(541, "INTERNAL_ERROR")
            case .lateConfirms:
                break
            }
            await harness.wait("confirms") { repeater.outcomes.count == Self.count }
            #expect(repeater.outcomes.filter { $0 == .confirmed }.count == Self.count - 10)
            #expect(!repeater.isNotifiedWithinAnother)
            await publisher.close()
        }
    }

    // After the close, nothing is sent, and each publish has its outcome immediately.
    @Test func aReceiverOfAClosedPublisherMayPublish() {
        AMQPHarness.play { harness in
            try harness.broker.start()
            let publisher = try await harness.readyPublisher()
            await publisher.close()
            let repeater = Repeater(publisher)
            repeater.publish()
            #expect(repeater.outcomes.count == Self.count)
            #expect(repeater.outcomes.allSatisfy { if case .notSent = $0 { true } else { false } })
            #expect(!repeater.isNotifiedWithinAnother)
        }
    }

    @Test func aReceiverIsRetainedUntilItIsNotified() {
        AMQPHarness.play { harness in
            try harness.broker.start()
            harness.broker.declareQueue("out")
            let publisher = try await harness.readyPublisher()
            weak var held: Repeater?
            do {
                let repeater = Repeater(publisher)
                for _ in 0..<Self.count { repeater.publish() }
                held = repeater
            }
            #expect(held != nil)
            await harness.wait("confirms") { held == nil }
            await publisher.close()
        }
    }
}
