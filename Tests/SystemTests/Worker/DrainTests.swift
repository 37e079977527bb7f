import AMQP
import Glibc
import JSON
import TestKit
import Testing

extension ChangingWorkerTests {
    /// A worker that is stopped while hundreds of pushes are in flight.
    @Suite struct Drain {
        private static let drainDeadlineSeconds = 20

        @Test(arguments: [1, 700, 2200])
        func sentPushesAreReportedAndTheRestStaysInTheQueue(afterResults count: Int) async throws {
            let fixture = try await SystemFixture(
                "drain\(count)",
                SystemFixture.Options(
                    simulator: ["--delay-ms", "100"], inFlightMax: 2000, drainDeadlineSeconds: Self.drainDeadlineSeconds
                ))
            let (summary, counters) = try await Self.drain(fixture, samples: 8000, afterResults: count) { _ in }
            #expect(summary.inFlight >= 200)
            #expect(summary.outcomes == ["accepted": summary.reported.count])
            #expect(summary.retried.isEmpty)
            #expect(counters.root["message.accepted"]?.int == summary.reported.count)
            #expect(counters.root["message.unknown_outcomes"]?.int == 0)

            // APNs received each reported request once, and no other request.
            let seen = try await fixture.end().compactMap { $0.root["apns_id"]?.string }
            #expect(Set(seen) == summary.reported)
            #expect(seen.count == summary.reported.count)
        }

        @Test func unansweredPushesAreCounted() async throws {
            let fixture = try await SystemFixture(
                "unanswered",
                SystemFixture.Options(
                    simulator: ["--delay-ms", "1000"], drainDeadlineSeconds: Self.drainDeadlineSeconds,
                    resendsUnknown: false))
            let (summary, counters) = try await Self.drain(fixture, samples: 4000, afterResults: 1) { worker in
                // The simulator now accepts concurrent pushes. Wait until 500 pushes are unanswered, then kill the
                // simulator.
                try await fixture.waitForUnansweredRequests(500)
                fixture.simulator.send(signal: SIGKILL)
            }
            let unknown = summary.outcomes["unknown"] ?? 0
            #expect(unknown >= 500)
            #expect(counters.root["message.unknown_outcomes"]?.int == unknown)
            #expect(counters.root["message.unknown"]?.int == unknown)
            #expect(counters.root["message.dead_letters"]?.int == unknown)
            let dead = try await fixture.testClient.getAll(from: fixture.queue("dead"))
            #expect(dead.count == unknown)
            #expect(Set(dead.map { $0.header("push-reason-class") }) == ["unknown"])
            await fixture.testClient.close()
        }

        /// The number of requests in flight when the drain began. Also the requests with a result or in a wait queue
        /// after the worker has exited.
        private struct DrainSummary {
            var inFlight = 0
            var reported: Set<String> = []
            var outcomes: [String: Int] = [:]
            var retried: Set<String> = []
        }

        /// Runs a worker and stops it after `afterResults` results and the return of `prepare`.
        ///
        /// Checks that the drain meets its deadline, and that each request either has a result or is in one queue.
        ///
        /// - Returns: The summary, and the worker's last log line.
        private static func drain(
            _ fixture: SystemFixture, samples count: Int, afterResults: Int,
            _ prepare: (ChildProcess) async throws -> Void
        ) async throws -> (DrainSummary, JSONDocument) {
            try await fixture.applyTopology()
            await fixture.testClient.collect(fixture.queue("results"))
            let samples = Sample.make(count)
            try await fixture.publish(samples)
            let worker = try await fixture.worker()
            try await fixture.testClient.collected(fixture.queue("results"), atLeast: afterResults)
            try await prepare(worker)

            let clock = ContinuousClock()
            let start = clock.now
            let counters = try await worker.stop()
            #expect(clock.now - start < .seconds(drainDeadlineSeconds))

            var summary = DrainSummary()
            for line in await worker.errors.allLines() where line.contains(#""message":"draining""#) {
                summary.inFlight = try JSONDocument(line).root["message.in_flight"]?.int ?? 0
            }
            let accepted = counters.root["message.accepted"]?.int ?? 0
            let unknown = counters.root["message.unknown"]?.int ?? 0
            let results = try await fixture.testClient.collected(fixture.queue("results"), atLeast: accepted + unknown)
            for result in results {
                let json = try result.json.root
                summary.reported.insert(json["id"]?.string ?? "-")
                summary.outcomes[json["outcome"]?.string ?? "-", default: 0] += 1
            }
            let retried = try await fixture.drainWaitQueues()
            summary.retried = Set(retried.compactMap(\.properties.messageID))
            let left = try await fixture.remainingRequests(count - results.count - retried.count)
            let waiting = Set(left.compactMap(\.properties.messageID))

            #expect(results.count + retried.count + left.count == count)
            #expect(summary.reported.union(summary.retried).union(waiting) == Set(samples.map(\.id)))
            return (summary, counters)
        }
    }
}
