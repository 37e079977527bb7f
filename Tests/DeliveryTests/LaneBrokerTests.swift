import EventLoop
import TestKit
import Testing

@testable import Delivery

/// Log lines of a lane about its broker, on virtual time.
@Suite struct LaneBrokerTests {
    private let log: CapturedLog
    private let harness: LaneHarness

    init() throws {
        log = try CapturedLog()
        harness = try LaneHarness(log: log.log)
        let harness = harness
        try #require(harness.run { harness.isReady })
        _ = log.lines()
    }

    private func isLogged(_ words: String...) -> Bool {
        harness.run { log.lines().contains { line in words.allSatisfy { line.contains($0) } } }
    }

    @Test func aMissingQueueAndItsReturnAreLogged() {
        harness.onLoop { harness.broker.deleteQueue("push.requests") }
        #expect(isLogged("queue not consumed", "push.requests", "martlet topology apply --config a.yaml"))
        #expect(!harness.isReady)
        harness.mendTopology()
        #expect(isLogged("queue consumed again", "push.requests"))
        #expect(harness.run { harness.isReady })
    }

    @Test func aBrokerThatAllowsTooFewChannelsIsNamedWithItsRemedy() throws {
        harness.onLoop {
            harness.broker.behavior.channelMax = 1
            for connection in harness.connections { connection.cut() }
        }
        #expect(isLogged("queue not consumed", "the connection needs 3 channels", "set channel_max = 3 or more"))
        let reasons = try #require(harness.status()).state.reasons
        #expect(reasons.contains { $0.contains("set channel_max = 3 or more") }, "\(reasons)")
    }

    @Test func eachLossOfAConnectionIsLogged() throws {
        for _ in 0..<2 {
            harness.onLoop { harness.connections.last?.cut() }
            #expect(isLogged("broker connection lost"))
            try #require(harness.run { harness.isReady })
            _ = log.lines()
        }
    }

    // One connection publishes, and the other consumes.
    @Test(arguments: [0, 1]) func aSingleLostConnectionAndItsReturnAreLogged(_ number: Int) {
        harness.onLoop {
            harness.loop.network.onConnect = { $0.cut(after: 10, .toServer) }
            harness.connections[number].cut()
        }
        #expect(isLogged("broker connection lost", "on the broker's host, run: rabbitmqctl status"))
        #expect(!harness.isReady)
        harness.loop.network.onConnect = { _ in }
        #expect(isLogged("broker connection restored"))
        #expect(harness.run { harness.isReady })
    }
}
