import EventLoop
import Testing

@testable import Worker

@Suite struct StallDetectorTests {
    @Test func aLoopWithProgressIsOnlyPinged() {
        var detector = StallDetector()
        #expect(detector.check(iterations: 0, now: at(0)) == .ping)
        #expect(detector.check(iterations: 5, now: at(2)) == .ping)
        #expect(detector.check(iterations: 6, now: at(4)) == .ping)
    }

    @Test func aStallAndItsRecoveryAreReportedOnce() {
        var detector = StallDetector()
        #expect(detector.check(iterations: 5, now: at(0)) == .ping)
        #expect(detector.check(iterations: 5, now: at(9)) == .none)
        #expect(detector.check(iterations: 5, now: at(10)) == .stalled(.seconds(10)))
        #expect(detector.check(iterations: 5, now: at(30)) == .none)
        #expect(detector.check(iterations: 6, now: at(31)) == .recovered(.seconds(31)))
        #expect(detector.check(iterations: 7, now: at(32)) == .ping)
    }

    private func at(_ seconds: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: seconds * 1_000_000_000) }
}
