import JSON
import TestKit
import Testing

extension SystemTests {
    /// The results queue is deleted while a worker runs.
    @Suite struct Unrouted {
        @Test func theWorkerWarnsAndTheResultsAreReplayed() async throws {
            let stage = try await Stage("unroutedresults")
            try await stage.applyTopology()
            let worker = try await stage.worker()
            try await PrivateBroker.shared.rabbitmqctl("delete_queue", stage.queue("results"))
            let samples = Sample.make(20)
            try await stage.publish(samples)
            let warning = try await worker.said("results published that no queue is bound for").root
            #expect(warning["event"]?.string == "results.unrouted" && warning["level"]?.string == "warning")
            #expect(warning["amqp.queue"]?.string == stage.queue("unrouted"))
            let advice = try #require(warning["error"]?.string)
            #expect(advice.contains("martlet unrouted replay --config \(stage.configuration)"))

            try await poll(until: "all results in the unrouted queue") {
                try await stage.desk.count(in: stage.queue("unrouted")) == samples.count
            }
            try await stage.applyTopology()
            await stage.desk.collect(stage.queue("results"))
            var replayed = 0
            try await poll(until: "all results replayed") {
                let run = try await ChildProcess.run([
                    Products.executable("martlet"), "unrouted", "replay", "--all", "--json", "--config",
                    stage.configuration,
                ])
                try #require(run.exit.status == .exited(0), "\(run.errors)")
                let summary = try JSONDocument(#require(run.output.last)).root
                replayed += try #require(summary["replayed"]?.int)
                return replayed == samples.count
            }
            let results = try await stage.told(of: samples)
            #expect(results.odd(samples) { $0.map(\.outcome) == ["accepted"] }.map(\.id) == [])
            _ = try await worker.stop()
            try await stage.expectNothingLeft()
            try await stage.end()
        }
    }
}
