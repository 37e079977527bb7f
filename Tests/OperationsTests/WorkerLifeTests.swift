import CLinux
import CommandKit
import EventLoop
import Testing

@testable import Delivery
@testable import Operations

@Suite struct WorkerLifeTests {
    @Test func aSignalDrainsAndTheLastLaneEnds() {
        var life = WorkerLife()
        #expect(life.laneDrained(unfinished: 0) == .none)
        #expect(life.signalled(SIGTERM, lanes: 2) == .drain)
        #expect(life.laneDrained(unfinished: 0) == .none)
        #expect(life.laneDrained(unfinished: 0) == .finish(.success))
        #expect(life.signalled(SIGTERM, lanes: 2) == .none)
    }

    @Test func whatIsLeftAtTheDeadlineShowsInTheExitCode() {
        var life = WorkerLife()
        #expect(life.signalled(SIGINT, lanes: 2) == .drain)
        #expect(life.laneDrained(unfinished: 3) == .none)
        #expect(life.laneDrained(unfinished: 0) == .finish(.timedOut))
    }

    @Test func aLaneThatNeverTellsDoesNotKeepTheProcess() {
        var life = WorkerLife()
        #expect(life.graceEnded() == .none)
        #expect(life.signalled(SIGTERM, lanes: 1) == .drain)
        #expect(life.graceEnded() == .abort(.timedOut))
        #expect(life.laneDrained(unfinished: 0) == .none)
    }

    @Test(arguments: [(SIGTERM, ExitCode.terminated), (SIGINT, .interrupted)])
    func theSecondSignalEndsAtOnce(signal: Int32, code: ExitCode) {
        var life = WorkerLife()
        #expect(life.signalled(SIGTERM, lanes: 1) == .drain)
        #expect(life.signalled(signal, lanes: 1) == .abort(code))
        #expect(life.graceEnded() == .none)
    }

    @Test func readyOnceEveryLaneIs() {
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

    @Test func whyNotIsSaidOnceAndOfWhichLanes() {
        var readiness = Readiness(lanes: 2)
        #expect(readiness.reasons == ["it has not begun yet"])
        _ = readiness.lane(0, .tested(isReady: true))
        #expect(readiness.reasons == ["lane 1: it has not begun yet"])
        _ = readiness.lane(1, .tested(isReady: false))
        #expect(
            readiness.reasons == [
                "lane 1: it is not consuming yet", "lane 1: it is not connected for publishing yet",
            ])
        _ = readiness.lane(1, .tested(isReady: true))
        #expect(readiness.reasons == [])
    }
}

extension LaneState {
    fileprivate static func tested(isReady: Bool) -> LaneState {
        var state = LaneState()
        (state.isConsuming, state.isPublishing) = (isReady, isReady)
        return state
    }
}

@Suite struct StallDetectorTests {
    @Test func aLoopThatTurnsIsPingedAndNoMore() {
        var detector = StallDetector()
        #expect(detector.check(turns: 0, now: at(0)) == .ping)
        #expect(detector.check(turns: 5, now: at(2)) == .ping)
        #expect(detector.check(turns: 6, now: at(4)) == .ping)
    }

    @Test func aLoopThatStandsStillIsToldOnceAndItsReturnToo() {
        var detector = StallDetector()
        #expect(detector.check(turns: 5, now: at(0)) == .ping)
        #expect(detector.check(turns: 5, now: at(9)) == .none)
        #expect(detector.check(turns: 5, now: at(10)) == .stalled(.seconds(10)))
        #expect(detector.check(turns: 5, now: at(30)) == .none)
        #expect(detector.check(turns: 6, now: at(31)) == .recovered(.seconds(31)))
        #expect(detector.check(turns: 7, now: at(32)) == .ping)
    }

    private func at(_ seconds: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: seconds * 1_000_000_000) }
}
