import AMQP
import EventLoop
import TestKit
import Testing

/// Relays between queues while connections are cut at random bytes, and while the broker refuses messages, returns
/// messages and crashes. If each message is acknowledged only after its confirm, no message is lost.
@Suite struct RelayTests {
    private static let messageCount = 300

    @Test(arguments: UInt64(1)...10)
    func nothingIsLostWithCutConnections(seed: UInt64) {
        _ = Self.relay(seed: seed, acknowledgesFirst: false)
    }

    @Test func theSameSeedGivesTheSameHistory() {
        let histories = (0..<2).map { _ in Self.relay(seed: 7, acknowledgesFirst: false).history }
        #expect(histories[0] == histories[1])
        #expect(Self.relay(seed: 8, acknowledgesFirst: false).history != histories[0])
    }

    // The test of the relay detects losses. With acknowledgments before the confirms, messages are lost.
    @Test func earlyAcknowledgmentsLoseMessages() {
        let lost = (UInt64(1)...10).map { Self.relay(seed: $0, acknowledgesFirst: true).lost }
        #expect(lost.contains { $0 > 0 })
    }

    private static func relay(seed: UInt64, acknowledgesFirst: Bool) -> (history: HistoryHash, lost: Int) {
        let result = Result()
        AMQPHarness.play(seed: seed) { harness in
            var random = SeededRandom(seed: seed)
            harness.broker.behavior.nackPercent = 3
            harness.broker.behavior.returnPercent = 3
            harness.broker.behavior.confirmDelayMilliseconds = 0...20
            harness.broker.declareQueue("in")
            harness.broker.declareQueue("out")
            harness.fill((0..<Self.messageCount).map { "\($0)" })
            var cuts = 12
            harness.loop.network.onConnect = { connection in
                guard cuts > 0 else { return }
                cuts -= 1
                connection.cut(after: 500 + random.below(4000), random.chance(percent: 50) ? .toServer : .toClient)
            }
            try harness.broker.start()
            let publisher = harness.makePublisher()
            let consumer = harness.makeConsumer(prefetch: 20)
            harness.startRelay(consumer, publisher, acknowledgesFirst: acknowledgesFirst)
            await harness.pass(.milliseconds(200))
            harness.broker.crash()
            await harness.pass(.seconds(2))
            try harness.broker.start()
            await harness.wait("an empty queue") {
                harness.broker.queue("in").map { $0.ready.isEmpty && $0.unsettled == 0 } ?? false
            }
            await consumer.close()
            await publisher.close()
            let arrived = Set(harness.texts(in: "out"))
            result.lost = Self.messageCount - arrived.count
            if !acknowledgesFirst {
                #expect(arrived.count == Self.messageCount)
                #expect(harness.broker.logins >= 7, "too few connections were cut")
            }
            result.history = harness.loop.network.history
        }
        return (result.history, result.lost)
    }

    private final class Result: @unchecked Sendable {
        var history = HistoryHash()
        var lost = 0
    }
}
