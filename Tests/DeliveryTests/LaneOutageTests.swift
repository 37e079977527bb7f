import AMQP
import APNS
import APNSProtocol
import APNSSimulator
import Crypto
import EventLoop
import Telemetry
import TestKit
import Testing

@testable import Delivery

/// A lane whose way to APNs is lost while there is much to do, on virtual time.
@Suite struct LaneOutageTests {
    enum Ending: CaseIterable {
        case cut
        /// The connections are ended in order, what is open on them is answered.
        case goAway
    }

    @Test(arguments: Ending.allCases, [1, 2])
    func noMoreIsPublishedThanWasInFlight(_ ending: Ending, connectionsMax: Int) throws {
        let scene = try LaneScene(connectionsMax: connectionsMax)
        let outageSeconds = 180
        scene.request(300)
        // As many as may be are on their way.
        try #require(scene.rig.run { scene.pushes.count >= 10 * LaneRig.inFlightMax })
        let published = scene.results
        scene.network.set(.refused, to: .sandbox)
        scene.end(ending)
        let lost = scene.now
        #expect(scene.rig.run { scene.now >= lost + .seconds(outageSeconds) })
        // While all is held, one message a minute is looked at.
        #expect(scene.results + scene.waits - published <= LaneRig.inFlightMax + outageSeconds / 60)
        #expect(scene.rig.stops == 1)

        scene.network.set(.open, to: .sandbox)
        let back = scene.now
        let pushes = scene.pushes.count
        #expect(scene.rig.run { scene.pushes.count > pushes })
        #expect(scene.now <= back + .seconds(10))
        #expect(scene.rig.run { scene.rig.counters.count(of: .accepted) == 300 })
        #expect(scene.results == 300)
    }

    @Test(arguments: Ending.allCases) func aConnectionThatIsReplacedAtOnceHoldsNothingUp(_ ending: Ending) throws {
        let scene = try LaneScene(connectionsMax: 1)
        scene.request(300)
        for rounds in [5, 10, 15] {
            try #require(scene.rig.run { scene.pushes.count >= rounds * LaneRig.inFlightMax })
            scene.end(ending)
        }
        #expect(scene.rig.run { scene.results == 300 })
        #expect(scene.waits <= (ending == .cut ? 3 * LaneRig.inFlightMax : 0))
        #expect(scene.rig.stops == 0)
    }

    @Test func anIdleConnectionIsNotReplaced() throws {
        let scene = try LaneScene(connectionsMax: 1)
        scene.request(1)
        try #require(scene.rig.run { scene.results == 1 && scene.rig.counters.inFlight.value == 0 })
        scene.end(.cut)
        let later = scene.now + .seconds(600)
        #expect(scene.rig.run { scene.now >= later })
        #expect(scene.connections == 1)
        scene.request(1, from: 1)
        #expect(scene.rig.run { scene.results == 2 })
        #expect(scene.connections == 2)
    }
}
