import EventLoop
import TestKit
import Testing

@testable import Delivery

/// What a lane says of its broker, on virtual time.
@Suite struct LaneBrokerTests {
    private let log: CapturedLog
    private let rig: LaneHarness

    init() throws {
        log = try CapturedLog()
        rig = try LaneHarness(log: log.log)
        let rig = rig
        try #require(rig.run { rig.isReady })
        _ = log.lines()
    }

    private func isSaid(_ words: String...) -> Bool {
        rig.run { log.lines().contains { line in words.allSatisfy { line.contains($0) } } }
    }

    @Test func aQueueThatIsMissingIsSaidAndThatItIsBack() {
        rig.onLoop { rig.broker.deleteQueue("push.requests") }
        #expect(isSaid("a queue is not consumed", "push.requests", "martlet topology apply --config a.yaml"))
        #expect(!rig.isReady)
        rig.mendTopology()
        #expect(isSaid("a queue is consumed again", "push.requests"))
        #expect(rig.run { rig.isReady })
    }

    @Test func aBrokerThatAllowsTooFewChannelsIsNamedWithItsRemedy() throws {
        rig.onLoop {
            rig.broker.behaviour.channelMax = 1
            for connection in rig.connections { connection.cut() }
        }
        #expect(isSaid("a queue is not consumed", "the connection needs 3 channels", "set channel_max = 3 or more"))
        let reasons = try #require(rig.status()).state.reasons
        #expect(reasons.contains { $0.contains("set channel_max = 3 or more") }, "\(reasons)")
    }

    @Test func eachLossOfAConnectionIsLogged() throws {
        for _ in 0..<2 {
            rig.onLoop { rig.connections.last?.cut() }
            #expect(isSaid("the broker is not at hand"))
            try #require(rig.run { rig.isReady })
            _ = log.lines()
        }
    }

    /// One of them is for publishing, one for taking messages.
    @Test(arguments: [0, 1]) func aConnectionThatIsLostAloneIsSaidAndThatItIsBack(_ number: Int) {
        rig.onLoop {
            rig.loop.network.onConnect = { $0.cut(after: 10, .toServer) }
            rig.connections[number].cut()
        }
        #expect(isSaid("the broker is not at hand", "see there with rabbitmqctl status"))
        #expect(!rig.isReady)
        rig.loop.network.onConnect = { _ in }
        #expect(isSaid("the broker is at hand again"))
        #expect(rig.run { rig.isReady })
    }
}
