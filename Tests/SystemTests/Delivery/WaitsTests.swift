import JSON
import TestKit
import Testing

extension SystemTests {
    /// Requests in wait queues after the cause of their one-hour wait is fixed.
    @Suite struct Waits {
        @Test func requestsBroughtBackArePushedImmediately() async throws {
            let fixture = try await SystemFixture("broughtback")
            try await fixture.applyTopology()
            await fixture.testClient.collect(fixture.queue("results"))
            let worker = try await fixture.worker()
            try await fixture.apns.request(
                "POST", "/v1/faults",
                #"{"id":"busy","match":{},"action":{"answer":{"status":503,"reason":"ServiceUnavailable"}}}"#)
            let samples = Sample.make(10)
            try await fixture.publish(samples)
            try await poll(until: "all requests in wait queues") {
                let groups = try await martlet(fixture, "list", "--by", "code")
                return groups.reduce(0) { $0 + ($1["count"]?.int ?? 0) } == samples.count
            }
            try await fixture.apns.request("DELETE", "/v1/faults/busy")

            // While a breaker is still open, the worker publishes some requests to a wait queue again.
            var results: Results?
            try await poll(until: "a result of each request", every: .zero) {
                let last = try await martlet(fixture, "bring-back", "--all").last
                #expect(last?["event"]?.string == "summary" && last?["failed"]?.int == 0)
                results = try? await fixture.results(of: samples, within: .seconds(1))
                return results != nil
            }
            #expect(results?.unexpected(samples) { $0.map(\.outcome) == ["accepted"] }.isEmpty == true)
            _ = try await worker.stop()
            try await fixture.expectNothingLeft()
            let pushes = try Pushes(await fixture.end())
            #expect(pushes.notAcceptedOnce(samples) == [])
        }

        private func martlet(_ fixture: SystemFixture, _ words: String...) async throws -> [JSONValue] {
            let run = try await ChildProcess.run(
                [Products.executable("martlet"), "waits"] + words + ["--json", "--config", fixture.configuration])
            try #require(run.exit.status == .exited(0), "\(run.errors)")
            return try run.output.map { try JSONDocument($0).root }
        }
    }
}
