import AMQP
import EventLoop
import JSON
import TestKit
import Testing

extension StoreSystemTests {
    /// A PostgreSQL server that is killed, restarted and suspended, and that a standby replaces.
    @Suite struct StoreOutages {
        /// Half of the requests name a user, and half a device token.
        private static let requests = LongForm.pick(10_000, short: 1200)
        private static let perSecond = LongForm.pick(100, short: 40)
        private static let deviceCountMax = 3
        /// The time before the first outage, and between the beginnings of two outages.
        private static let interval = Duration.seconds(LongForm.pick(20, short: 6))
        /// The duration of an outage without its recovery. It exceeds the time after which the breaker opens.
        private static let outage = Duration.seconds(LongForm.pick(10, short: 4))
        /// The time by which an outage may delay a request to a device token.
        private static let delayMax = Duration.seconds(2)
        /// The share of requests to device tokens that may be delayed longer. The short form shares its processors with
        /// other suites, which can delay every process. A lane that waits for its store delays at least a tenth.
        private static let delayedShareMax = LongForm.pick(0, short: 0.03)
        private static let rateRatioMin = 0.8

        @Test func `Requests to users wait, and requests to device tokens continue`() async throws {
            try await PrivatePostgres.with { primary in
                try await PrivatePostgres(standbyOf: primary).use { standby in
                    var options = SystemFixture.Options(delays: ["1s"])
                    try options.usePostgres(primary, standby)
                    let fixture = try await SystemFixture("store-away", options)
                    try await fixture.applyTopology()
                    try await fixture.migrateStore()
                    let users = StoreUser.make(Self.requests / 2, deviceCountMax: Self.deviceCountMax)
                    try await fixture.importUsers(users)
                    try await Self.run(fixture, users, primary, standby)
                }
            }
        }

        private static func run(
            _ fixture: SystemFixture, _ users: [StoreUser], _ primary: PrivatePostgres, _ standby: PrivatePostgres
        ) async throws {
            await fixture.testClient.collect(fixture.queue("results"))
            let worker = try await fixture.worker()
            let samples = Sample.make(users.count)
            let requests = users.map { UserRequest(samples.count + $0.number, to: $0) }
            let begin = ContinuousClock.now
            async let published = fixture.testClient.publish(
                zip(samples, requests).flatMap { [$0.message(to: fixture.prefix), $1.message(to: fixture.prefix)] },
                perSecond: perSecond)
            func waitForIntervals(_ count: Int) async throws {
                try await Task.sleep(until: begin + interval * count)
            }
            try await waitForIntervals(1)
            try await primary.kill()
            await fixture.testClient.sleep(for: outage)
            try await primary.start()
            try await waitForIntervals(2)
            try await primary.restart()
            try await waitForIntervals(3)
            await primary.pause()
            await fixture.testClient.sleep(for: outage)
            await primary.resume()
            try await waitForIntervals(4)
            try await primary.kill()
            await fixture.testClient.sleep(for: outage)
            try await standby.promote()
            let times = try await published.enumerated().filter { $0.offset % 2 == 0 }.map(\.element)

            let limit = Duration.seconds(LongForm.pick(600, short: 180))
            let results = try await fixture.results(of: samples, within: limit)
            try await fixture.fanoutMessages(about: requests, within: limit)
            for event in ["breaker.opened", "breaker.closed"] {
                #expect(try worker.logged.count { $0.root["event"]?.string == event } >= 2, "\(event)")
            }
            _ = try await worker.stop()
            try await fixture.expectNothingLeft()
            results.expectAcceptedOnFirstAttempt(samples)
            let latencies = try await fixture.latencies(of: samples, publishedAt: times)
            let messages = try await fixture.allFanoutMessages()
            let record = try await fixture.end()
            messages.check(requests, record)
            #expect(Pushes(record).notAcceptedOnce(samples) == [])
            expectUndelayed(times, latencies)
        }

        /// Checks the latencies of requests to device tokens, and the rate of their results.
        private static func expectUndelayed(_ times: [MonotonicTime], _ latencies: [Duration]) {
            let first = times[0] + interval
            let before = zip(times, latencies).filter { $0.0 < first }.map(\.1)
            let longest = (before.max() ?? .zero, latencies.max() ?? .zero)
            let delayed = latencies.count { $0 > longest.0 + delayMax }
            #expect(Double(delayed) <= Double(latencies.count) * delayedShareMax, "\(delayed) delayed")
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
}
