import AMQP
import TestKit
import Testing

/// Bursts of messages, published in one event-loop iteration, that exceed the size of one write.
struct PublisherBurstTests {
    /// A burst several times as large as one write.
    private static let burst = (0..<400).map { number in
        OutgoingMessage(
            exchange: "", routingKey: "out", body: Array("\(number) ".utf8) + Array(repeating: 0x78, count: 1000),
            messageID: "\(number)")
    }

    // The broker reads the burst immediately, or after a second.
    @Test(arguments: [false, true])
    func aBurstArrivesCompletelyAndInOrder(isDelayed: Bool) {
        AMQPHarness.play { harness in
            try harness.broker.start()
            harness.broker.declareQueue("out")
            let publisher = try await harness.readyPublisher()
            harness.broker.setSilent(isDelayed)
            let burst = Self.burst
            for message in burst { harness.publish(message, publisher) }
            if isDelayed { await harness.pass(.seconds(1)) }
            harness.broker.setSilent(false)
            await harness.wait("confirms") { harness.outcomes.count == burst.count }
            #expect(harness.texts(in: "out") == burst.map { String(decoding: $0.body, as: UTF8.self) })
            #expect(harness.outcomes.values.allSatisfy { $0 == .confirmed })
            await publisher.close()
        }
    }

    // The outcome of each message is unknown, whether or not the message was written.
    @Test func aBurstOnALostConnectionIsUnknown() {
        AMQPHarness.play { harness in
            try harness.broker.start()
            let publisher = try await harness.readyPublisher()
            harness.broker.setSilent(true)
            let burst = Self.burst
            for message in burst { harness.publish(message, publisher) }
            await harness.pass(.seconds(1))
            harness.broker.crash()
            await harness.wait("outcomes") { harness.outcomes.count == burst.count }
            #expect(harness.outcomes.values.allSatisfy { if case .unknown = $0 { true } else { false } })
            await publisher.close()
        }
    }
}
