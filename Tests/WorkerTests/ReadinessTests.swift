import Testing

@testable import Delivery
@testable import Worker

@Suite struct ReadinessTests {
    @Test func readyOnceEveryLaneIsReady() {
        var readiness = Readiness(lanes: 2)
        let history = [(0, true), (1, true), (1, true), (0, false), (1, false), (7, true)].map { lane, isReady in
            let changed = readiness.lane(lane, .tested(isReady: isReady))
            return "\(changed ? "now" : "still") \(readiness.isReady ? "ready" : "not ready")"
        }
        #expect(
            history == [
                "still not ready", "now ready", "still ready", "now not ready", "still not ready", "still not ready",
            ])
    }

    @Test func reasonsAreListedOnceWithTheirLanes() {
        var readiness = Readiness(lanes: 2)
        #expect(readiness.reasons == ["not started yet"])
        _ = readiness.lane(0, .tested(isReady: true))
        #expect(readiness.reasons == ["lane 1: not started yet"])
        _ = readiness.lane(1, .tested(isReady: false))
        #expect(
            readiness.reasons == [
                "lane 1: not consuming yet", "lane 1: not connected for publishing yet",
            ])
        _ = readiness.lane(1, .tested(isReady: true))
        #expect(readiness.reasons == [])
    }

    @Test func aLaneThatHasEndedIsNotReady() {
        var readiness = Readiness(lanes: 2)
        for lane in 0..<2 { _ = readiness.lane(lane, .tested(isReady: true)) }
        #expect(readiness.laneEnded(1) && !readiness.isReady)
        #expect(readiness.reasons == ["lane 1: lane thread exited"])
        #expect(!readiness.laneEnded(0) && readiness.reasons == ["lane thread exited"])
    }
}

extension LaneState {
    fileprivate static func tested(isReady: Bool) -> LaneState {
        var state = LaneState()
        (state.isConsuming, state.isPublishing) = (isReady, isReady)
        return state
    }
}
