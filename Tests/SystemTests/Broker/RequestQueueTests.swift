import EventLoop
import TestKit
import Testing

extension SystemTests {
    /// A campaign in one request queue, together with urgent requests in another.
    @Suite struct RequestQueues {
        private static let bulk = LongForm.pick(100_000, short: 600)
        private static let urgent = LongForm.pick(300, short: 12)
        private static let urgentPerSecond = LongForm.pick(20, short: 4)
        private static let runs = LongForm.pick(5, short: 3)
        /// The latency of responses by APNs.
        ///
        /// In the short form, responses are slow and few are concurrent. The measured latency then depends on the
        /// responses and not on processors that also run other tests.
        private static let answerMilliseconds = LongForm.pick(100, short: 400)
        private static let streams = LongForm.pick(100, short: 20)

        @Test func anUrgentPushOvertakesTheBacklogOfAnotherQueue() async throws {
            let fixture = try await SystemFixture(
                "queues",
                SystemFixture.Options(
                    simulator: ["--delay-ms", "\(Self.answerMilliseconds)", "--streams-max", "\(Self.streams)"],
                    connectionsMax: 1,
                    requestQueues: ["urgent", "bulk"]))
            try await fixture.applyTopology()
            await fixture.testClient.collect(fixture.queue("results"))
            var worker = try await fixture.worker()
            /// Publishes urgent requests. Returns the p99 latency of each run, and the number of results when the last
            /// request had been published.
            func p99s(from first: Int) async throws -> (p99s: [Duration], reported: Int) {
                let samples = Sample.make(Self.runs * Self.urgent, from: first)
                let times = try await fixture.testClient.publish(
                    samples.map { $0.message(to: "queues", routingKey: "urgent") }, perSecond: Self.urgentPerSecond)
                let reported = await fixture.testClient.collected(fixture.queue("results")).count
                try await fixture.results(of: samples).expectAcceptedOnFirstAttempt(samples)
                let latencies = try await fixture.latencies(of: samples, publishedAt: times)
                let p99s = (0..<Self.runs).map { run in
                    Array(latencies[run * Self.urgent..<(run + 1) * Self.urgent]).p99
                }
                return (p99s, reported)
            }
            // The first request opens the connection.
            let first = Sample(1_000_000)
            try await fixture.testClient.publish([first.message(to: "queues", routingKey: "urgent")])
            _ = try await fixture.results(of: [first])
            let (alone, _) = try await p99s(from: 0)
            _ = try await worker.stop()
            let bulk = Sample.make(Self.bulk, from: 2_000_000)
            try await fixture.testClient.publish(bulk.map { $0.message(to: "queues", routingKey: "bulk") })
            worker = try await fixture.worker()
            try await fixture.testClient.collected(fixture.queue("results"), atLeast: Self.runs * Self.urgent + 1 + 50)
            let (beside, reported) = try await p99s(from: 3_000_000)
            #expect(reported < bulk.count + Self.runs * Self.urgent, "the backlog ended first")
            print("p99 of urgent pushes: \(alone), with \(bulk.count) other requests: \(beside)")
            #expect(beside.median <= alone.median * 1.5)
            try await fixture.results(of: bulk, within: .seconds(300)).expectAcceptedOnFirstAttempt(bulk)
            _ = try await worker.stop()
            try await fixture.end()
        }
    }
}
