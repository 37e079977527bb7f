import EventLoop
import Testing

@testable import AMQP

@Suite struct UnappliedSettlementsTests {
    private func time(_ milliseconds: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: milliseconds * 1_000_000) }

    // With `begin` 0, the clock started together with the channel.
    @Test(arguments: [0, 3000, 10_000]) func onlyManySettlementsNeedTwoSeconds(begin: Int64) {
        var recent = UnappliedSettlements()
        recent.sent(32, at: time(begin))
        #expect(recent.safeAt == nil)
        recent.sent(1, at: time(begin + 500))
        #expect(recent.safeAt == time(begin + 2500))
    }

    @Test func oldSettlementsAreForgotten() {
        var recent = UnappliedSettlements()
        recent.sent(32, at: time(10_000))
        // Settlements of the previous period also count, because they may be younger than two seconds.
        recent.sent(1, at: time(12_100))
        #expect(recent.safeAt == time(14_100))
        recent.sent(1, at: time(14_200))
        #expect(recent.safeAt == nil)
        recent.sent(31, at: time(16_000))
        // The settlement of 14.2 s is four seconds old, and the settlements of 16 s are more than two seconds old.
        recent.sent(2, at: time(18_200))
        #expect(recent.safeAt == nil)
    }
}
