import TestKit
import Testing

extension BrokerFaultTests {
    /// A broker that is restarted while hundreds of pushes are in flight.
    @Suite struct BrokerRestarts {
        private static let restarts = LongForm.pick(5, short: 1)
        private static let inFlight = 400
        private static let answerMilliseconds = 2000
        /// The number of requests per restart.
        ///
        /// The number is large enough to reach the in-flight limit, although some requests complete while the test
        /// still publishes others.
        private static let requests = 1200

        @Test func noAnsweredPushIsRepeated() async throws {
            let broker = try await DisruptableBroker.shared
            let fixture = try await SystemFixture(
                "restarts", broker: broker.url,
                SystemFixture.Options(
                    simulator: ["--delay-ms", "\(Self.answerMilliseconds)"], inFlightMax: Self.inFlight / 2, lanes: 2))
            try await fixture.applyTopology()
            await fixture.testClient.collect(fixture.queue("results"))
            let worker = try await fixture.worker()
            var samples: [Sample] = []
            for restart in 0..<Self.restarts {
                let batch = Sample.make(Self.requests, from: restart * Self.requests)
                samples += batch
                try await fixture.publish(batch)
                try await fixture.waitForUnansweredRequests(Self.inFlight * 9 / 10)
                try await broker.restart()
                _ = try await fixture.results(of: batch)
            }
            try await fixture.waitForEmptyRequestQueues()
            _ = try await worker.stop()
            let results = try await fixture.allResults()
            let unexpected = results.unexpected(samples) { $0.allSatisfy { $0.outcome == "accepted" } }
            #expect(unexpected.map(\.id) == [])
            try await fixture.expectNothingLeft()

            let pushes = try Pushes(await fixture.end())
            let twice = samples.filter { pushes[$0].count > 1 }
            let repeatedAfterAnswer = twice.filter { sample in
                let times = pushes[sample].map(\.unixMilliseconds).sorted()
                return zip(times, times.dropFirst()).contains { $1 - $0 > Self.answerMilliseconds }
            }
            #expect(repeatedAfterAnswer.map(\.id) == [])
            let unmarked = twice.filter { sample in !results[sample].contains { $0.isPossibleDuplicate } }
            #expect(unmarked.map(\.id) == [])
            print("\(Self.restarts) restarts with \(Self.inFlight) in flight: \(twice.count) pushed twice")
        }
    }
}
