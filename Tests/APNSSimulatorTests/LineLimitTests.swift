import EventLoop
import Testing

@testable import APNSSimulator

@Suite struct LineLimitTests {
    @Test func linesAreLimited() {
        var limit = LineLimit()
        func printed(_ count: Int, at seconds: Int64) -> [String] {
            (0..<count).flatMap { _ in
                limit.lines(for: "line", now: MonotonicTime(nanoseconds: seconds * 1_000_000_000))
            }
        }
        #expect(printed(LineLimit.linesMax + 5, at: 100).count == LineLimit.linesMax)
        #expect(printed(3, at: 109) == [])
        #expect(printed(2, at: 110) == ["8 more lines omitted", "line", "line"])
        #expect(printed(1, at: 500) == ["line"])
    }

    @Test func summaryIsDueWithoutAnotherLine() {
        var limit = LineLimit()
        func time(_ seconds: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: seconds * 1_000_000_000) }
        for _ in 0..<LineLimit.linesMax { _ = limit.lines(for: "line", now: time(100)) }
        #expect(limit.due == nil)
        for _ in 0..<3 { #expect(limit.lines(for: "line", now: time(101)) == []) }
        #expect(limit.due == time(110) && limit.summary(now: time(109)) == [])
        #expect(limit.summary(now: time(110)) == ["3 more lines omitted"])
        #expect(limit.due == nil && limit.summary(now: time(120)) == [])
    }
}
