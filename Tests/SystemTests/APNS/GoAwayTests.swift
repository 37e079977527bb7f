import JSON
import TestKit
import Testing

extension SystemTests {
    /// Repeated GOAWAY frames on the only connection of each pool while two workers push.
    @Suite struct GoAways {
        private static let samples = LongForm.pick(20_000, short: 4000)
        private static let goAways = 8

        @Test func nothingIsPushedTwice() async throws {
            let fixture = try await SystemFixture(
                "goaway",
                SystemFixture.Options(
                    simulator: ["--delay-ms", "20"], inFlightMax: 100, delays: ["1s", "2s"], connectionsMax: 1))
            try await fixture.applyTopology()
            await fixture.testClient.collect(fixture.queue("results"))
            let samples = Sample.make(Self.samples)
            try await fixture.publish(samples)
            var workers: [ChildProcess] = []
            for _ in 0..<2 { workers.append(try await fixture.worker()) }
            var sent = 0
            for number in 1...Self.goAways {
                try await fixture.testClient.collected(
                    fixture.queue("results"), atLeast: number * Self.samples / (Self.goAways + 2))
                let answer = try await fixture.apns.request("POST", "/v1/actions", #"{"action":{"goaway":{}}}"#)
                let connections = answer.root["connections"]?.int ?? 0
                #expect(connections > 0)
                sent += connections
            }

            try await fixture.results(of: samples).expectAcceptedOnFirstAttempt(samples)
            // A connection closes with its last stream. Until then, it may have received several GOAWAY frames.
            try await poll(until: "no connection ended without GOAWAY") {
                let counters = try await fixture.apns.counters().root
                let ended = counters["connections_by_end"]?["goaway"]?.int ?? 0
                let open = counters["connections_open"]?.int ?? 0
                return (2...sent).contains(ended) && counters["connections"]?.int == open + ended
            }
            for worker in workers {
                #expect(try worker.count(of: "broker connection lost") == 0)
                let moves = "request redelivered repeatedly, moved to quarantine"
                #expect(try worker.count(of: moves) == 0)
                _ = try await worker.stop()
            }
            #expect(try await fixture.testClient.count(in: fixture.queue("quarantine")) == 0)
            try await fixture.expectNothingLeft()
            #expect(try Pushes(await fixture.end()).notAcceptedOnce(samples) == [])
        }
    }
}
