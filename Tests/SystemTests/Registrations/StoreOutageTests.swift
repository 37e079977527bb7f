import AMQP
import EventLoop
import JSON
import TestKit
import Testing

extension StoreSystemTests {
    /// A PostgreSQL server that is killed, restarted and suspended, and that a standby replaces.
    @Suite struct StoreOutages {
        @Test func `Requests to users wait, and requests to device tokens continue`() async throws {
            try await StoreOutageHarness.with("store-away", userCount: 80) { harness in
                let (primary, standby) = (harness.primary, harness.standby)
                try await harness.expectHeld(after: { try await primary.kill() }, until: { try await primary.start() })
                try await harness.expectCompleted(after: { try await primary.restart() })
                try await harness.expectHeld(after: { await primary.pause() }, until: { await primary.resume() })
                try await harness.expectHeld(
                    after: { try await primary.kill() }, until: { try await standby.promote() })
            }
        }

        /// Measures latencies, so no other test may run.
        @Test(.enabled(if: LongForm.isOn)) func `Outages delay no request to a device token`() async throws {
            try await StoreOutageHarness.with("store-delay", userCount: TimedOutages.requests / 2) { harness in
                try await TimedOutages.run(harness)
            }
        }
    }
}

/// Outages while requests are published at a constant rate. Half of them name a user, and half a device token.
private enum TimedOutages {
    static let requests = 10_000
    private static let perSecond = 100
    /// The time before the first outage, and between the beginnings of two outages.
    private static let interval = Duration.seconds(20)
    /// The duration of an outage without its recovery.
    private static let outage = Duration.seconds(10)
    /// The time by which an outage may delay a request to a device token.
    private static let delayMax = Duration.seconds(2)
    private static let rateRatioMin = 0.8

    static func run(_ harness: StoreOutageHarness) async throws {
        let (samples, users) = harness.next(requests / 2)
        let client = harness.fixture.testClient
        let prefix = harness.fixture.prefix
        let begin = ContinuousClock.now
        async let published = client.publish(
            zip(samples, users).flatMap { [$0.message(to: prefix), $1.message(to: prefix)] }, perSecond: perSecond)
        func waitForIntervals(_ count: Int) async throws {
            try await Task.sleep(until: begin + interval * count)
        }
        try await waitForIntervals(1)
        try await harness.primary.kill()
        await client.sleep(for: outage)
        try await harness.primary.start()
        try await waitForIntervals(2)
        try await harness.primary.restart()
        try await waitForIntervals(3)
        await harness.primary.pause()
        await client.sleep(for: outage)
        await harness.primary.resume()
        try await waitForIntervals(4)
        try await harness.primary.kill()
        await client.sleep(for: outage)
        try await harness.standby.promote()
        let times = try await published.enumerated().filter { $0.offset % 2 == 0 }.map(\.element)
        try await harness.fixture.fanoutMessages(about: users, within: .seconds(600))
        expectUndelayed(times, try await harness.fixture.latencies(of: samples, publishedAt: times))
    }

    /// Checks the latencies of requests to device tokens, and the rate of their results.
    private static func expectUndelayed(_ times: [MonotonicTime], _ latencies: [Duration]) {
        let first = times[0] + interval
        let before = zip(times, latencies).filter { $0.0 < first }.map(\.1)
        let longest = (before.max() ?? .zero, latencies.max() ?? .zero)
        #expect(longest.1 <= longest.0 + delayMax)
        // The number of results in each second.
        var counts = [Int](repeating: 0, count: requests / perSecond + 1)
        for (time, latency) in zip(times, latencies) {
            let second = Int(times[0].duration(to: time + latency) / .seconds(1))
            if second < counts.count { counts[second] += 1 }
        }
        let seconds = Int(interval / .seconds(1))
        let rates = (counts[..<seconds].sorted()[seconds / 2], counts[seconds...].dropLast().sorted())
        let rate = rates.1[rates.1.count / 2]
        #expect(Double(rate) >= Double(rates.0) * rateRatioMin)
        print(
            "requests to device tokens before outages and during outages: \(rates.0) and \(rate) per second, "
                + "longest latency \(longest.0) and \(longest.1)")
    }
}
