import EventLoop
import Testing

@testable import Operations

@Suite struct StartUpTests {
    private var startUp = StartUp()

    @Test mutating func whatIsThereNeedsNoWord() {
        #expect(startUp.reached(now: at(0)) == nil)
        #expect(startUp.checked(missing: [], now: at(0)) == nil)
    }

    @Test mutating func anAbsentBrokerIsToldOnceAMinuteAndItsReturnOnce() {
        #expect(startUp.cannotReach(now: at(1)) == .unreachable)
        #expect(startUp.cannotReach(now: at(2)) == nil)
        #expect(startUp.cannotReach(now: at(60)) == nil)
        #expect(startUp.cannotReach(now: at(61)) == .unreachable)
        #expect(startUp.cannotReach(now: at(120)) == nil)
        #expect(startUp.reached(now: at(121)) == .reached(after: .seconds(120)))
        #expect(startUp.reached(now: at(122)) == nil)
        #expect(startUp.cannotReach(now: at(123)) == .unreachable, "a second outage is news")
    }

    @Test mutating func whatIsMissingIsToldOnceAMinuteUntilAllIsThere() {
        #expect(startUp.checked(missing: ["queue a", "queue b"], now: at(0)) == .missing(["queue a", "queue b"]))
        #expect(startUp.checked(missing: ["queue a"], now: at(59)) == nil)
        #expect(startUp.checked(missing: ["queue a"], now: at(60)) == .missing(["queue a"]))
        #expect(startUp.checked(missing: [], now: at(63)) == .complete(after: .seconds(63)))
        #expect(startUp.checked(missing: [], now: at(64)) == nil)
    }

    private func at(_ seconds: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: seconds * 1_000_000_000) }
}
