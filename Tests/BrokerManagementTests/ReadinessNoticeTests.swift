import EventLoop
import Testing

@testable import BrokerManagement

@Suite struct ReadinessNoticeTests {
    private var notice = ReadinessNotice()

    @Test mutating func aBrokerWithEverythingNeedsNoLine() {
        #expect(notice.reached(now: at(0)) == nil)
        #expect(notice.checked(missing: [], now: at(0)) == nil)
    }

    @Test mutating func anUnreachableBrokerIsLoggedOnceAMinuteAndItsReturnOnce() {
        #expect(notice.cannotReach(now: at(1)) == .unreachable)
        #expect(notice.cannotReach(now: at(2)) == nil)
        #expect(notice.cannotReach(now: at(60)) == nil)
        #expect(notice.cannotReach(now: at(61)) == .unreachable)
        #expect(notice.cannotReach(now: at(120)) == nil)
        #expect(notice.reached(now: at(121)) == .reached(after: .seconds(120)))
        #expect(notice.reached(now: at(122)) == nil)
        #expect(notice.cannotReach(now: at(123)) == .unreachable, "a second outage is not reported")
    }

    @Test mutating func missingObjectsAreLoggedOnceAMinuteUntilAllExist() {
        #expect(notice.checked(missing: ["queue a", "queue b"], now: at(0)) == .missing(["queue a", "queue b"]))
        #expect(notice.checked(missing: ["queue a"], now: at(59)) == nil)
        #expect(notice.checked(missing: ["queue a"], now: at(60)) == .missing(["queue a"]))
        #expect(notice.checked(missing: [], now: at(63)) == .complete(after: .seconds(63)))
        #expect(notice.checked(missing: [], now: at(64)) == nil)
    }

    private func at(_ seconds: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: seconds * 1_000_000_000) }
}
