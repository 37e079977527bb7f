import JSON
import Telemetry
import TestKit
import Testing

@testable import Delivery

/// What a lane makes of the same message that comes more than once, on virtual time.
@Suite struct LaneCopiesTests {
    @Test func itIsPushedOnceAndToldEachTime() throws {
        let scene = try LaneScene()
        scene.request(1)
        scene.request(1)
        #expect(scene.rig.run { scene.results == 2 })
        scene.request(1)
        #expect(scene.rig.run { scene.rig.counters.outcomes[.accepted]?.value == 3 })
        #expect(scene.pushes.count == 1)
        #expect(scene.rig.counters.duplicates.value == 2)
        let results = try #require(scene.rig.broker.queue(scene.rig.names.resultsQueue)).ready
        let told = try results.map { try JSONDocument($0.body).root["duplicate"]?.bool ?? false }
        #expect(told == [false, true, true])
    }
}
