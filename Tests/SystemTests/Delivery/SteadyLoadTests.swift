import EventLoop
import TestKit
import Testing

extension SystemTests {
    /// A steady load of forty apps with four keys, of which one is temporarily revoked.
    @Suite struct SteadyLoad {
        private static let pushesPerSecond = LongForm.pick(500, short: 200)
        private static let secondsBefore = LongForm.pick(30, short: 4)
        private static let secondsRevoked = LongForm.pick(180, short: 6)
        private static let runs = LongForm.pick(5, short: 3)
        private static let ratioMax = 1.5
        /// The delay that a busy machine may cause. A fault of another app's key would delay pushes by seconds.
        private static let slack = LongForm.pick(Duration.zero, short: .milliseconds(900))
        private static let healSecondsMax = LongForm.pick(360, short: 30)

        @Test func aRevokedKeyDelaysNoOtherAppsPushes() async throws {
            var ratios: [Double] = []
            for run in 0..<Self.runs {
                let (before, during) = try await Self.run(run)
                print("p99 of other apps' pushes: \(before), with a key revoked \(during)")
                ratios.append(max(.zero, during - Self.slack) / before)
                // A delay caused by the worker appears in every run. A delay caused by other tests does not.
                if !LongForm.isOn && ratios.last! <= Self.ratioMax { return }
            }
            #expect(ratios.sorted()[ratios.count / 2] <= Self.ratioMax, "\(ratios)")
        }

        private static func run(_ run: Int) async throws -> (before: Duration, during: Duration) {
            let keys = try (0..<4).map { key in
                try FixtureKey("STEADY000\(key)", apps: (0..<10).map { "com.example.app\(key).n\($0)" })
            }
            let delays = LongForm.pick(["5s", "30s", "2m"], short: ["1s", "2s"])
            let fixture = try await SystemFixture("steady\(run)", SystemFixture.Options(keys: keys, delays: delays))
            try await fixture.applyTopology()
            await fixture.testClient.collect(fixture.queue("results"))
            let worker = try await fixture.worker()
            let apps = (0..<10).flatMap { app in keys.map { $0.apps[app] } }
            func make(_ seconds: Int, from first: Int) -> [Sample] {
                (0..<seconds * pushesPerSecond).map { number in
                    var sample = Sample(first + number)
                    sample.app = apps[number % apps.count]
                    return sample
                }
            }
            func publish(_ samples: [Sample]) async throws -> [MonotonicTime] {
                try await fixture.testClient.publish(
                    samples.map { $0.message(to: fixture.prefix) }, perSecond: pushesPerSecond)
            }
            let warmUp = make(1, from: 0)
            _ = try await publish(warmUp)
            let earlier = make(secondsBefore, from: 1_000_000)
            let earlierTimes = try await publish(earlier)
            try await keys[0].revoke(at: fixture.apns)
            let later = make(secondsRevoked, from: 2_000_000)
            let laterTimes = try await publish(later)
            try await keys[0].revoke(false, at: fixture.apns)

            let samples = warmUp + earlier + later
            let results = try await fixture.results(of: samples, within: .seconds(healSecondsMax))
            results.expectAcceptedOnFirstAttempt(samples)
            #expect(try worker.count(of: "breaker opened, pushes held") == 1)
            let others = zip(later, laterTimes).filter { !keys[0].apps.contains($0.0.app) }
            let before = try await fixture.latencies(of: earlier, publishedAt: earlierTimes)
            let during = try await fixture.latencies(of: others.map(\.0), publishedAt: others.map(\.1))
            _ = try await worker.stop()
            try await fixture.expectNothingLeft()
            #expect(try Pushes(await fixture.end()).notAcceptedOnce(samples) == [])
            return (before.p99, during.p99)
        }
    }
}
