import JSON
import TestKit
import Testing

extension SystemTests {
    /// Results and retried requests that a worker cannot publish for some time.
    @Suite struct UnpublishedResults {
        private static let outage = LongForm.pick(Duration.seconds(60), short: .seconds(14))
        private static let stuck = "publishing blocked, consumption stopped"
        private static let mended = "publishing resumed"

        @Test func resultsWithoutAQueueAreKeptAndPublishedLater() async throws {
            let fixture = try await SystemFixture("untold", SystemFixture.Options(inFlightMax: 200, lanes: 2))
            try await fixture.applyTopology()
            let worker = try await fixture.worker()
            try await fixture.testClient.delete([fixture.queue("results"), fixture.queue("unrouted")])
            let samples = Sample.make(1000)
            try await fixture.publish(samples)
            try await worker.waitForLog(Self.stuck)
            await fixture.testClient.sleep(for: Self.outage)
            #expect(try fixture.recorded().count <= 400)
            #expect(try worker.count(of: "not ready") >= 1)

            try await fixture.applyTopology()
            await fixture.testClient.collect(fixture.queue("results"))
            try await fixture.results(of: samples).expectAcceptedOnFirstAttempt(samples)
            try await worker.waitForLog(Self.mended)
            _ = try await worker.stop()
            try await fixture.expectNothingLeft()
            let record = try await fixture.end()
            #expect(record.count == samples.count)
            #expect(Pushes(record).notAcceptedOnce(samples) == [])
        }

        @Test func aMissingWaitQueueDelaysItsRequests() async throws {
            let fixture = try await SystemFixture("unwaited", SystemFixture.Options(delays: ["1s"]))
            try await fixture.applyTopology()
            await fixture.testClient.collect(fixture.queue("results"))
            let samples = Sample.make(50)
            try await fixture.apns.request(
                "POST", "/v1/faults",
                """
                {"id":"busy","match":{"device_prefix":"\(samples[0].device)"},"count_max":1,
                 "action":{"answer":{"reason":"TooManyRequests"}}}
                """)
            let worker = try await fixture.worker()
            try await fixture.testClient.delete(fixture.waitQueues)
            try await fixture.publish(samples)
            let stuck = try await worker.waitForLog(Self.stuck)
            #expect(stuck.root["error"]?.string?.contains("martlet topology apply") == true)
            try await fixture.applyTopology()
            let results = try await fixture.results(of: samples)
            results.expectAcceptedOnFirstAttempt(Array(samples.dropFirst()))
            #expect(results[samples[0]].map(\.outcome) == ["accepted"])
            #expect(results[samples[0]].map(\.attempts) == [2])
            try await worker.waitForLog(Self.mended)
            _ = try await worker.stop()
            try await fixture.expectNothingLeft()
            #expect(try Pushes(await fixture.end()).notAcceptedOnce(samples) == [])
        }
    }
}
