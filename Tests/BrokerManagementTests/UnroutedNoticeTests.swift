import EventLoop
import Testing

@testable import BrokerManagement

/// Warnings about results for which no queue is bound.
@Suite struct UnroutedNoticeTests {
    // Only growth is logged, at most once a minute.
    @Test func theLogWarnsOfUnroutedResultsAsTheirNumberGrows() {
        var notice = UnroutedNotice()
        let start = MonotonicTime(nanoseconds: 0)
        func due(_ count: Int, after seconds: Int) -> Bool {
            notice.isDue(count, consumers: 0, now: start + .seconds(seconds))
        }
        #expect(!due(0, after: 0))
        #expect(due(1, after: 10))
        #expect(!due(1, after: 20) && !due(5, after: 30) && !due(9, after: 60))
        #expect(due(9, after: 70))
        #expect(!due(9, after: 200) && !due(3, after: 210))
        #expect(due(4, after: 220))
        #expect(!due(0, after: 300))
        #expect(due(1, after: 310))
    }

    // `martlet unrouted list` fetches the results and then requeues them.
    @Test func aReaderThatReturnsTheResultsIsNoGrowth() {
        var notice = UnroutedNotice()
        let start = MonotonicTime(nanoseconds: 0)
        func due(_ count: Int, _ consumers: Int, after seconds: Int) -> Bool {
            notice.isDue(count, consumers: consumers, now: start + .seconds(seconds))
        }
        #expect(due(5, 0, after: 0))
        #expect(!due(0, 1, after: 100) && !due(5, 0, after: 110))
        #expect(due(6, 1, after: 200))
        #expect(!due(0, 0, after: 300))
        #expect(due(5, 0, after: 310))
    }
}
