import EventLoop
import Testing

@testable import AMQP

@Suite struct RecentSettlementsTests {
    @Test func thirtyOneSettlementsAreNotWaitedFor() {
        var recent = RecentSettlements()
        for number in 0..<31 { recent.sent(at: MonotonicTime(nanoseconds: Int64(number))) }
        #expect(recent.safeAt == nil)
        for number in 31..<100 { recent.sent(at: MonotonicTime(nanoseconds: Int64(number))) }
        #expect(recent.safeAt == MonotonicTime(nanoseconds: 68 + 2_000_000_000))
    }
}
