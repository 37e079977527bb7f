import EventLoop
import Testing

@Suite struct BackoffTests {
    private static let start = MonotonicTime(nanoseconds: 0)

    private static func backoff() -> Backoff {
        Backoff(
            least: .milliseconds(100), first: .milliseconds(500), longest: .seconds(30), healthyAfter: .seconds(60))
    }

    @Test func theLargestDelayDoublesUpToTheLongest() {
        var backoff = Self.backoff()
        var delays: [Int64] = []
        for _ in 0..<9 {
            let delay = backoff.failed(isRetriable: true, now: Self.start, random: .max)
            delays.append(Int64((Double(delay.nanosecondsSaturated) / 1e6).rounded()))
        }
        #expect(delays == [500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000])
    }

    @Test func theDelayIsRandomAboveTheLeast() {
        var backoff = Self.backoff()
        #expect(backoff.failed(isRetriable: true, now: Self.start, random: 0) == .milliseconds(100))
        let half = backoff.failed(isRetriable: true, now: Self.start, random: .max / 2)
        #expect(abs(half.nanosecondsSaturated - 550_000_000) < 10)
    }

    @Test func theLeastIsNeverMoreThanTheFirst() {
        var backoff = Backoff(
            least: .seconds(3), first: .seconds(1), longest: .seconds(2), healthyAfter: .seconds(60))
        #expect(backoff.failed(isRetriable: true, now: Self.start, random: .max) == .seconds(3))
    }

    @Test func failuresThatNeedAnOperatorHaveALongFirstDelay() {
        var backoff = Self.backoff()
        #expect(backoff.failed(isRetriable: false, now: Self.start, random: 0) == .seconds(15))
        let longest = backoff.failed(isRetriable: false, now: Self.start, random: .max)
        #expect(abs(longest.nanosecondsSaturated - 30_000_000_000) < 10)
    }

    @Test func onlyALongHealthyTimeResetsTheDelay() {
        var backoff = Self.backoff()
        for _ in 0..<5 { _ = backoff.failed(isRetriable: true, now: Self.start, random: 0) }
        backoff.becameReady(now: Self.start)
        _ = backoff.failed(isRetriable: true, now: Self.start + .seconds(59), random: 0)
        #expect(backoff.failures == 6)
        backoff.becameReady(now: Self.start)
        _ = backoff.failed(isRetriable: true, now: Self.start + .seconds(60), random: 0)
        #expect(backoff.failures == 1)
    }
}
