import Glibc
import TestKit
import Testing

extension ChangingWorkerTests {
    /// Duplicates of requests that were pushed before a reload.
    @Suite struct ReloadDuplicates {
        @Test func duplicatesAreDetectedAfterAppsChangeTheirOrder() async throws {
            let key = try FixtureKey("COPYKEY001", apps: ["com.example.stays"])
            var options = SystemFixture.Options(keys: [key], delays: ["1s"])
            let fixture = try await SystemFixture("reload-copies", options)
            try await fixture.applyTopology()
            await fixture.testClient.collect(fixture.queue("results"))
            let worker = try await fixture.worker()
            let samples = Sample.make(20, app: "com.example.stays")
            try await fixture.publish(samples)
            try await fixture.results(of: samples).expectAcceptedOnFirstAttempt(samples)

            options.keys = [key.with(apps: ["com.example.comes", "com.example.stays"])]
            try await options.keys[0].register(at: fixture.apns)
            try fixture.write(options)
            worker.send(signal: SIGHUP)
            try await worker.waitForLog("configuration reloaded")
            try await fixture.publish(samples)
            let last = Sample.make(1, from: 100, app: "com.example.stays")
            _ = try await fixture.testClient.collected(fixture.queue("results"), atLeast: 2 * samples.count)
            try await fixture.publish(last)
            let results = try await fixture.results(of: samples + last)
            #expect(results.unexpected(samples) { $0.map(\.isDuplicate) == [false, true] }.isEmpty)
            _ = try await worker.stop()
            #expect(try Pushes(await fixture.end()).notAcceptedOnce(samples + last) == [])
        }
    }
}
