import EventLoop
import Glibc
import JSON
import TestKit
import Testing

extension SystemTests {
    /// A campaign of an app with limits, together with pushes of another app.
    @Suite struct AppLimits {
        private static let perSecond = 20

        @Test func aCampaignWaitsForPermitsAndDelaysNoOtherApp() async throws {
            let key = try FixtureKey("LIMITEDKEY", apps: ["com.example.campaign"])
            var options = SystemFixture.Options(keys: [key], delays: ["5s", "30s"], lanes: 2)
            options.appLimits = ["com.example.campaign": "{pushes_per_second: \(Self.perSecond)}"]
            let fixture = try await SystemFixture("limits", options)
            try await fixture.applyTopology()
            await fixture.testClient.collect(fixture.queue("results"))
            let worker = try await fixture.worker()
            // These pushes open the connections to APNs.
            let first = Sample.make(4, from: 1000)
            try await fixture.publish(first)
            _ = try await fixture.results(of: first)

            let campaign = Sample.make(120, from: 10_000, app: "com.example.campaign")
            let others = Sample.make(100, from: 20_000)
            let clock = ContinuousClock()
            let start = clock.now
            try await fixture.publish(campaign)
            let times = try await fixture.testClient.publish(others.map { $0.message(to: "limits") }, perSecond: 50)
            try await fixture.results(of: others).expectAcceptedOnFirstAttempt(others)
            let latencies = try await fixture.latencies(of: others, publishedAt: times)
            #expect(latencies.count == 100 && latencies.p99 < .seconds(1), "\(latencies.p99)")
            try await fixture.results(of: campaign).expectAcceptedOnFirstAttempt(campaign)
            let seconds = (clock.now - start) / .seconds(1)
            #expect(4.5...9 ~= seconds, "\(campaign.count) with \(Self.perSecond) a second took \(seconds) s")

            // Changed limits take effect without a restart.
            options.appLimits = ["com.example.campaign": "{pushes_per_second: 1000, pushes_in_flight: 50}"]
            try fixture.write(options)
            worker.send(signal: SIGHUP)
            try await worker.waitForLog("configuration reloaded")
            let more = Sample.make(200, from: 30_000, app: "com.example.campaign")
            let again = clock.now
            try await fixture.publish(more)
            try await fixture.results(of: more).expectAcceptedOnFirstAttempt(more)
            #expect(clock.now - again < .seconds(5), "\(clock.now - again)")

            let last = try await worker.stop().root
            #expect(last["message.requeued"]?.int == 0 && last["message.held"]?.int ?? 0 == 0)
            #expect(try worker.count(of: "app limits reached, remaining requests delayed") >= 1)
            try await fixture.expectNothingLeft()
            let record = try await fixture.end()
            #expect(Pushes(record).notAcceptedOnce(campaign + others + more) == [])
        }
    }
}
