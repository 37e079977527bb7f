import Telemetry
import TestKit
import Testing

@testable import Delivery

/// Outcomes that a lane could not publish before its end, on virtual time.
@Suite struct LaneUnpublishedOutcomesTests {
    // The process continues, and its memory of duplicates has only published verdicts.
    @Test func anotherLanePublishesUnpublishedOutcomes() throws {
        let fixture = try LaneAPNSHarness(lanes: 2)
        let count = 2 * LaneHarness.inFlightMax
        fixture.harness.onLoop { fixture.harness.broker.behavior.nackPercent = 100 }
        fixture.request(count)
        try #require(fixture.harness.run { fixture.pushes.count == count })
        try #require(fixture.harness.run { fixture.harness.counters.publishRepeats.value >= count })
        fixture.harness.drain(0, deadlineSeconds: 1)
        #expect(fixture.harness.run { fixture.harness.ended == 1 })
        #expect(fixture.results == 0)

        fixture.harness.onLoop { fixture.harness.broker.behavior.nackPercent = 0 }
        #expect(fixture.harness.run { fixture.results == count })
        #expect(fixture.harness.run { fixture.harness.counters.requeued.value == LaneHarness.inFlightMax })
    }
}
