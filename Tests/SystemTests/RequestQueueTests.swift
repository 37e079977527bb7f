import EventLoop
import TestKit
import Testing

extension SystemTests {
    /// A campaign in one queue does not hold up a call in another.
    @Suite struct RequestQueues {
        private static let bulk = LongForm.pick(100_000, short: 5000)
        private static let urgent = LongForm.pick(1000, short: 120)
        private static let urgentPerSecond = LongForm.pick(20, short: 40)
        /// What single pushes may wait on a busy machine. Behind the others they would wait for a second and more.
        private static let slack = LongForm.pick(Duration.zero, short: .milliseconds(300))

        @Test func anUrgentPushOvertakesTheBacklogOfAnotherQueue() async throws {
            let stage = try await Stage(
                "queues",
                Stage.Options(
                    simulator: ["--delay-ms", "100", "--streams-max", "100"], connectionsMax: 1,
                    requestQueues: ["urgent", "bulk"]))
            try await stage.applyTopology()
            await stage.desk.collect(stage.queue("results"))
            let worker = try await stage.worker()
            func p99(from first: Int) async throws -> Duration {
                let samples = Sample.make(Self.urgent, from: first)
                let times = try await stage.desk.publish(
                    samples.map { $0.message(to: "queues", routingKey: "urgent") }, perSecond: Self.urgentPerSecond)
                try await stage.told(of: samples).expectAcceptedAtOnce(samples)
                return try await stage.latencies(of: samples, publishedAt: times).p99
            }
            // The first opens the connection.
            let first = Sample(0)
            try await stage.desk.publish([first.message(to: "queues", routingKey: "urgent")])
            _ = try await stage.told(of: [first])
            let alone = try await p99(from: 1_000_000)
            let bulk = Sample.make(Self.bulk, from: 2_000_000)
            try await stage.desk.publish(bulk.map { $0.message(to: "queues", routingKey: "bulk") })
            try await stage.desk.collected(stage.queue("results"), atLeast: Self.urgent + 1 + 200)
            let beside = try await p99(from: 3_000_000)
            let told = await stage.desk.collected(stage.queue("results")).count
            #expect(told < bulk.count + 2 * Self.urgent, "the backlog ended first")
            print("p99 of urgent pushes: \(alone), beside \(bulk.count) others \(beside)")
            #expect(beside <= alone * 1.5 + Self.slack)
            try await stage.told(of: bulk, within: .seconds(300)).expectAcceptedAtOnce(bulk)
            _ = try await worker.stop()
            try await stage.end()
        }
    }
}
