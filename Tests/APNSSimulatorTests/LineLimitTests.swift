import EventLoop
import Testing

@testable import APNSSimulator

@Suite struct LineLimitTests {
    @Test func soManyAreTold() {
        var limit = LineLimit()
        func told(_ count: Int, at seconds: Int64) -> [String] {
            (0..<count).flatMap { _ in
                limit.lines(for: "line", now: MonotonicTime(nanoseconds: seconds * 1_000_000_000))
            }
        }
        #expect(told(LineLimit.linesMax + 5, at: 100).count == LineLimit.linesMax)
        #expect(told(3, at: 109) == [])
        #expect(told(2, at: 110) == ["8 more lines like these were left out", "line", "line"])
        #expect(told(1, at: 500) == ["line"])
    }
}
