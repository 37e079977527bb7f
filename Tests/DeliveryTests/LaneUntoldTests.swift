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
        scene.harness.onLoop { scene.harness.broker.behaviour.nackPercent = 100 }
        scene.request(count)
        try #require(scene.harness.run { scene.pushes.count == count })
        try #require(scene.harness.run { scene.harness.counters.publishRepeats.value >= count })
        scene.harness.drain(0, deadlineSeconds: 1)
        #expect(scene.harness.run { scene.harness.ended == 1 })
        #expect(scene.results == 0)

        scene.harness.onLoop { scene.harness.broker.behaviour.nackPercent = 0 }
        #expect(scene.harness.run { scene.results == count })
        #expect(scene.harness.run { scene.harness.counters.requeued.value == LaneHarness.inFlightMax })
    }
}
