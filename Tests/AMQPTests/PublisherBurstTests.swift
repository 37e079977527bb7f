import AMQP
import TestKit
import Testing

/// More is published in one turn than is written at once.
struct PublisherBurstTests {
    /// Several times as much as is written at once.
    private static let burst = (0..<400).map { number in
        OutgoingMessage(
            exchange: "", routingKey: "out", body: Array("\(number) ".utf8) + Array(repeating: 0x78, count: 1000),
            messageID: "\(number)")
    }

    /// To a broker that takes all of it at once, or nothing for a while.
    @Test(arguments: [false, true])
    func aBurstArrivesWholeAndInOrder(isHeldUp: Bool) {
        Scene.play { scene in
            try scene.broker.start()
            scene.broker.declareQueue("out")
            let publisher = try await scene.readyPublisher()
            scene.broker.setSilent(isHeldUp)
            let burst = Self.burst
            for message in burst { scene.publish(message, publisher) }
            if isHeldUp { await scene.pass(.seconds(1)) }
            scene.broker.setSilent(false)
            await scene.wait("confirms") { scene.outcomes.count == burst.count }
            #expect(scene.texts(in: "out") == burst.map { String(decoding: $0.body, as: UTF8.self) })
            #expect(scene.outcomes.values.allSatisfy { $0 == .confirmed })
            await publisher.close()
        }
    }

    /// Of what was written and of what was not yet, each is told once.
    @Test func aBurstThatTheConnectionDoesNotOutliveIsUnknown() {
        Scene.play { scene in
            try scene.broker.start()
            let publisher = try await scene.readyPublisher()
            scene.broker.setSilent(true)
            let burst = Self.burst
            for message in burst { scene.publish(message, publisher) }
            await scene.pass(.seconds(1))
            scene.broker.crash()
            await scene.wait("outcomes") { scene.outcomes.count == burst.count }
            #expect(scene.outcomes.values.allSatisfy { if case .unknown = $0 { true } else { false } })
            await publisher.close()
        }
    }
}
