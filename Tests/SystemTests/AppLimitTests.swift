import EventLoop
import Glibc
import JSON
import TestKit
import Testing

extension SystemTests {
    /// A campaign of an app with limits leaves room for the others, on a real broker.
    @Suite struct AppLimits {
        private static let perSecond = 20

        @Test func aCampaignWaitsForItsTurnsAndNobodyForIt() async throws {
            let key = try StageKey("LIMITEDKEY", apps: ["com.example.campaign"])
            var options = Stage.Options(keys: [key], delays: ["5s", "30s"], lanes: 2)
            options.appLimits = ["com.example.campaign": "{pushes_per_second: \(Self.perSecond)}"]
            let stage = try await Stage("limits", options)
            try await stage.applyTopology()
            await stage.desk.collect(stage.queue("results"))
            let worker = try await stage.worker()
            // Opens the connections.
            let first = Sample.make(4, from: 1000)
            try await stage.publish(first)
            _ = try await stage.told(of: first)

            let campaign = Sample.make(120, from: 10_000, app: "com.example.campaign")
            let others = Sample.make(100, from: 20_000)
            let clock = ContinuousClock()
            let start = clock.now
            try await stage.publish(campaign)
            let times = try await stage.desk.publish(others.map { $0.message(to: "limits") }, perSecond: 50)
            try await stage.told(of: others).expectAcceptedAtOnce(others)
            let latencies = try await stage.latencies(of: others, publishedAt: times)
            #expect(latencies.count == 100 && latencies.p99 < .seconds(1), "\(latencies.p99)")
            try await stage.told(of: campaign).expectAcceptedAtOnce(campaign)
            let seconds = (clock.now - start) / .seconds(1)
            #expect(4.5...9 ~= seconds, "\(campaign.count) with \(Self.perSecond) a second took \(seconds) s")

            // Other limits are in force without a restart.
            options.appLimits = ["com.example.campaign": "{pushes_per_second: 1000, pushes_in_flight: 50}"]
            try stage.write(options)
            worker.send(signal: SIGHUP)
            try await worker.said("the configuration was read anew and is in force")
            let more = Sample.make(200, from: 30_000, app: "com.example.campaign")
            let again = clock.now
            try await stage.publish(more)
            try await stage.told(of: more).expectAcceptedAtOnce(more)
            #expect(clock.now - again < .seconds(5), "\(clock.now - again)")

            let last = try await worker.stop().root
            #expect(last["message.requeued"]?.int == 0 && last["message.held"]?.int ?? 0 == 0)
            #expect(try worker.count(of: "an app has more to push than its limits allow; the rest waits") >= 1)
            try await stage.expectNothingLeft()
            let record = try await stage.end()
            #expect(Pushes(record).notTakenOnce(campaign + others + more) == [])
        }
    }
}
