import EventLoop
import Testing

@testable import APNS

@Suite struct ReconnectPolicyTests {
    private func time(_ seconds: Double) -> MonotonicTime {
        MonotonicTime(nanoseconds: 1_000_000_000_000 + Int64(seconds * 1_000_000_000))
    }

    private func wait(_ policy: ReconnectPolicy, at now: MonotonicTime) -> Double {
        Double(now.duration(to: policy.nextConnect(now)).components.seconds)
            + Double(now.duration(to: policy.nextConnect(now)).components.attoseconds) / 1e18
    }

    @Test func delaysDoubleUpToTheMaximum() {
        var policy = ReconnectPolicy()
        #expect(wait(policy, at: time(0)) == 0)
        var waits: [Double] = []
        var now = time(0)
        for _ in 0..<10 {
            policy.failed(now, begunAt: now, random: .max)
            waits.append(wait(policy, at: now))
            now = policy.nextConnect(now)
        }
        // The maximum random number selects a delay in the upper third of the range.
        for (index, wait) in waits.enumerated() {
            let span = min(pow2(index), 9)
            #expect(wait >= max(1, span * 0.66) && wait <= max(span, 1.5), "failure \(index + 1): \(wait) s")
        }
        policy.succeeded()
        #expect(wait(policy, at: now) == 0)
        policy.failed(now, begunAt: now, random: .max)
        #expect(1...1.5 ~= wait(policy, at: now), "the delay did not restart at the minimum")
    }

    @Test(arguments: [0, 1, 999, 1_000_000, UInt64.max]) func noDelayIsShorterThanTheMinimum(random: UInt64) {
        var policy = ReconnectPolicy()
        policy.failed(time(0), begunAt: time(0), random: random)
        #expect(wait(policy, at: time(0)) >= 1)
        for _ in 0..<100 { policy.failed(time(0), begunAt: time(0), random: random) }
        #expect(wait(policy, at: time(0)) >= 6)
        #expect(wait(policy, at: time(0)) <= 9)
    }

    @Test func theLargestRandomNumbersGiveTheLongestDelays() {
        var policy = ReconnectPolicy()
        policy.failed(time(0), begunAt: time(0), random: 501)
        #expect(wait(policy, at: time(0)) == 1, "the minimum delay grew by more than 500 ms")
        for _ in 0..<10 { policy.failed(time(0), begunAt: time(0), random: 3000) }
        #expect(wait(policy, at: time(0)) == 9)
    }

    @Test(arguments: [0, 7, 999_999, UInt64.max]) func theNextAttemptStartsWithinTenSecondsOfASlowOne(
        random: UInt64
    ) {
        var policy = ReconnectPolicy()
        for _ in 0..<10 { policy.failed(time(8), begunAt: time(0), random: random) }
        #expect(wait(policy, at: time(8)) >= 1)
        #expect(policy.nextConnect(time(8)) < time(10))
    }

    @Test func workersReconnectAtDifferentTimes() {
        let waits = (0..<50).map { seed in
            var policy = ReconnectPolicy()
            for _ in 0..<6 { policy.failed(time(0), begunAt: time(0), random: UInt64(seed) &* 0x9E37_79B9_7F4A_7C15) }
            return wait(policy, at: time(0))
        }
        #expect(Set(waits).count > 40)
    }

    @Test func connectsPerMinuteAreLimitedEvenIfTheySucceed() {
        var policy = ReconnectPolicy()
        var now = time(0)
        for number in 1...30 {
            let begun = policy.nextConnect(now)
            let gap = now.duration(to: begun)
            #expect(number <= 6 ? gap == .zero : .seconds(8.5)...(.seconds(8.6)) ~= gap, "connect \(number)")
            policy.connectBegan(begun)
            policy.succeeded()
            now = begun
        }
        #expect(policy.nextConnect(now + .seconds(60)) == now + .seconds(60))
    }

    @Test(arguments: 0..<20 as Range<UInt64>, [0, 1, 2, 3, 12, 14])
    func noMinuteHasMoreConnectsThanAllowed(seed: UInt64, limit: Int) {
        var configuration = ReconnectPolicy.Configuration()
        configuration.connectsPerMinuteMax = limit
        var policy = ReconnectPolicy(configuration)
        var random = SeededRandom(seed: seed)
        var (now, begun) = (time(0), [MonotonicTime]())
        for _ in 0..<500 {
            now = policy.nextConnect(now + .milliseconds(Int64(random.below(seed == 0 ? 1 : 3000))))
            policy.connectBegan(now)
            begun.append(now)
        }
        let windows = begun.indices.map { first in begun[first...].prefix { $0 < begun[first] + .seconds(60) }.count }
        #expect(windows.allSatisfy { $0 <= max(1, limit) })
        #expect(seed > 0 || windows.max() == max(1, limit), "without delays, the limit was not reached")
        // Half of the connects are immediate, and the others are spread over the minute. The test delays each connect
        // by up to 3 s.
        let spread = 60.0 / Double(max(1, limit) - max(1, limit / 2) + 1)
        #expect(zip(begun, begun.dropFirst()).allSatisfy { $0.duration(to: $1) <= .seconds(spread + 3.1) })
    }

    private func pow2(_ exponent: Int) -> Double { Double(1 << exponent) }
}
