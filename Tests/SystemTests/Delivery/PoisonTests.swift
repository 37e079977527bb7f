import AMQP
import Glibc
import JSON
import TestKit
import Testing

extension SystemTests {
    /// A request that appears to kill each worker that consumes it. The test kills the workers.
    @Suite struct Poison {
        /// The number of killed workers: three while the request is in the request queue, two while it is in the
        /// quarantine queue.
        private static let deaths = 5
        private static let otherRequests = 40

        @Test func aPoisonRequestMovesToTheQuarantineAndOtherRequestsAreReported() async throws {
            let fixture = try await SystemFixture("poison", SystemFixture.Options(inFlightMax: 20))
            try await fixture.applyTopology()
            for queue in ["results", "dead"] { await fixture.testClient.collect(fixture.queue(queue)) }
            let poison = Sample(0)
            try await fixture.apns.request(
                "POST", "/v1/faults",
                #"{"id":"poison","match":{"device_prefix":"\#(poison.device)"},"action":"silence"}"#)
            var samples = Sample.make(Self.otherRequests, from: 1)
            try await fixture.publish(samples + [poison])
            var newest = 0
            for death in 1...Self.deaths {
                let worker = try await fixture.startWorker()
                let more = Sample.make(Self.otherRequests, from: 1000 * death)
                try await fixture.publish(more)
                samples += more
                let seen = try await fixture.apns.request(
                    "GET", "/v1/requests?device=\(poison.device)&after=\(newest)&wait_seconds=18")
                newest = seen.root["newest"]?.int ?? newest
                worker.send(signal: SIGKILL)
                _ = try await worker.exit()
            }
            let worker = try await fixture.worker()
            _ = try await fixture.results(of: samples + [poison])
            // A request whose worker was killed after its result was published may still be queued.
            try await fixture.waitForEmptyRequestQueues()
            let counters = try await worker.stop()
            let results = try await fixture.allResults()
            #expect(results[poison].map(\.outcome) == ["unknown"])
            #expect(results[poison].map(\.error) == ["quarantine.redelivered"])
            let unexpected = results.unexpected(samples) { $0.allSatisfy { $0.outcome == "accepted" } }
            #expect(unexpected.map(\.id) == [])
            // A request may have a result but be unacknowledged when its worker dies. The request is then reported
            // again, at most once for each killed worker.
            let repeated = samples.filter { results[$0].count > 1 + Self.deaths }
            #expect(repeated.map(\.id) == [])
            let letters = try await fixture.testClient.collected(fixture.queue("dead"), atLeast: 1)
            #expect(letters.map { $0.body == poison.body } == [true])
            #expect(letters[0].header("push-reason-class") == "quarantine")
            #expect(letters[0].header("push-reason-code") == "redelivered")

            #expect(counters.root["message.unknown"]?.int ?? 0 <= 1)
            try await fixture.expectNothingLeft()
            let pushes = try Pushes(await fixture.end())
            #expect(pushes[poison].count == Self.deaths)
            let lost = samples.filter { pushes.acceptedCount(of: $0) == 0 }
            #expect(lost.map(\.id) == [])
            let unmarked = samples.filter { sample in
                pushes.acceptedCount(of: sample) > 1 && !results[sample].contains { $0.isPossibleDuplicate }
            }
            #expect(unmarked.map(\.id) == [])
        }
    }
}
