import JSON
import TestKit
import Testing

extension SystemTests {
    /// Results that a worker publishes after its results queue has been deleted.
    @Suite struct Unrouted {
        @Test func theWorkerWarnsAndTheResultsAreReplayed() async throws {
            let fixture = try await SystemFixture("unroutedresults")
            try await fixture.applyTopology()
            let worker = try await fixture.worker()
            try await PrivateBroker.shared.rabbitmqctl("delete_queue", fixture.queue("results"))
            let samples = Sample.make(20)
            try await fixture.publish(samples)
            let warning = try await worker.waitForLog("results published without bound queue").root
            #expect(warning["event"]?.string == "results.unrouted" && warning["level"]?.string == "warning")
            #expect(warning["amqp.queue"]?.string == fixture.queue("unrouted"))
            let advice = try #require(warning["error"]?.string)
            #expect(advice.contains("martlet unrouted replay --config \(fixture.configuration)"))

            try await fixture.waitForMessages(samples.count, in: "unrouted")
            try await fixture.applyTopology()
            await fixture.testClient.collect(fixture.queue("results"))
            var replayed = 0
            try await poll(until: "all results replayed") {
                let run = try await ChildProcess.run([
                    Products.executable("martlet"), "unrouted", "replay", "--all", "--json", "--config",
                    fixture.configuration,
                ])
                try #require(run.exit.status == .exited(0), "\(run.errors)")
                let summary = try JSONDocument(#require(run.output.last)).root
                replayed += try #require(summary["replayed"]?.int)
                return replayed == samples.count
            }
            let results = try await fixture.results(of: samples)
            #expect(results.unexpected(samples) { $0.map(\.outcome) == ["accepted"] }.map(\.id) == [])
            _ = try await worker.stop()
            try await fixture.expectNothingLeft()
            try await fixture.end()
        }
    }
}
