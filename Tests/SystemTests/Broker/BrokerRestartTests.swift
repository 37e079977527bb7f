import TestKit
import Testing

extension TroubledBrokerTests {
    /// A broker that is restarted while hundreds of pushes are on their way.
    @Suite struct BrokerRestarts {
        private static let restarts = LongForm.pick(5, short: 1)
        private static let inFlight = 400
        private static let answerMilliseconds = 2000
        /// Requests at each restart: enough to have as many in flight as may be, though some are done while others are
        /// still published.
        private static let requests = 1200

        @Test func noPushIsMadeTwiceWhoseAnswerHadCome() async throws {
            let broker = try await TroubledBroker.shared
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
                try await fixture.untilAsked(Self.inFlight * 9 / 10)
                try await broker.restart()
                _ = try await fixture.told(of: batch)
            }
            try await fixture.untilTaken()
            _ = try await worker.stop()
            let results = try await fixture.allResults()
            let odd = results.odd(samples) { told in told.allSatisfy { $0.outcome == "accepted" } }
            #expect(odd.map(\.id) == [])
            try await fixture.expectNothingLeft()

            let pushes = try Pushes(await fixture.end())
            let twice = samples.filter { pushes[$0].count > 1 }
            let needless = twice.filter { sample in
                let times = pushes[sample].map(\.unixMilliseconds).sorted()
                return zip(times, times.dropFirst()).contains { $1 - $0 > Self.answerMilliseconds }
            }
            #expect(needless.map(\.id) == [])
            let untold = twice.filter { sample in !results[sample].contains { $0.isPossibleDuplicate } }
            #expect(untold.map(\.id) == [])
            print("\(Self.restarts) restarts under \(Self.inFlight) in flight: \(twice.count) pushed twice")
        }
    }
}
