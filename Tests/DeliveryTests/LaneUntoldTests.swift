import Telemetry
import TestKit
import Testing

@testable import Delivery

/// What a lane decided and could not publish before its end, on virtual time.
@Suite struct LaneUntoldTests {
    /// The process lives on, and remembers only what was told.
    @Test func isToldByAnotherLaneOfItsProcess() throws {
        let scene = try LaneAPNSHarness(lanes: 2)
        let count = 2 * LaneHarness.inFlightMax
        scene.rig.onLoop { scene.rig.broker.behaviour.nackPercent = 100 }
        scene.request(count)
        try #require(scene.rig.run { scene.pushes.count == count })
        try #require(scene.rig.run { scene.rig.counters.publishRepeats.value >= count })
        scene.rig.drain(0, deadlineSeconds: 1)
        #expect(scene.rig.run { scene.rig.ended == 1 })
        #expect(scene.results == 0)

        scene.rig.onLoop { scene.rig.broker.behaviour.nackPercent = 0 }
        #expect(scene.rig.run { scene.results == count })
        #expect(scene.rig.run { scene.rig.counters.requeued.value == LaneHarness.inFlightMax })
    }
}
