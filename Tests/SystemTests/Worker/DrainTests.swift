import AMQP
import Glibc
import JSON
import TestKit
import Testing

extension ChangingWorkerTests {
    /// A worker that is told to stop while answers take 100 ms and hundreds of pushes wait for theirs.
    @Suite struct Drain {
        private static let drainDeadlineSeconds = 20

        @Test(arguments: [1, 700, 2200])
        func whatWasSentIsToldAndTheRestStaysInTheQueue(afterResults count: Int) async throws {
            let fixture = try await SystemFixture(
                "drain\(count)",
                SystemFixture.Options(
                    simulator: ["--delay-ms", "100"], inFlightMax: 2000, drainDeadlineSeconds: Self.drainDeadlineSeconds
                ))
            let (ending, counters) = try await Self.drain(fixture, samples: 8000, afterResults: count) { _ in }
            #expect(ending.inFlight >= 200)
            #expect(ending.outcomes == ["accepted": ending.told.count])
            #expect(ending.retried.isEmpty)
            #expect(counters.root["message.accepted"]?.int == ending.told.count)
            #expect(counters.root["message.unknown_outcomes"]?.int == 0)

            // APNs saw those that are told, each once, and no other.
            let seen = try await fixture.end().compactMap { $0.root["apns_id"]?.string }
            #expect(Set(seen) == ending.told)
            #expect(seen.count == ending.told.count)
        }

        @Test func whatHasNoAnswerIsCounted() async throws {
            let fixture = try await SystemFixture(
                "unanswered",
                SystemFixture.Options(
                    simulator: ["--delay-ms", "1000"], drainDeadlineSeconds: Self.drainDeadlineSeconds,
                    resendsUnknown: false))
            let (ending, counters) = try await Self.drain(fixture, samples: 4000, afterResults: 1) { worker in
                // The gate has opened: wait until as many are out as may be, then cut them off.
                try await fixture.untilAsked(500)
                fixture.simulator.send(signal: SIGKILL)
            }
            let unknown = ending.outcomes["unknown"] ?? 0
            #expect(unknown >= 500)
            #expect(counters.root["message.unknown_outcomes"]?.int == unknown)
            #expect(counters.root["message.unknown"]?.int == unknown)
            #expect(counters.root["message.dead_letters"]?.int == unknown)
            let dead = try await fixture.testClient.takeAll(from: fixture.queue("dead"))
            #expect(dead.count == unknown)
            #expect(Set(dead.map { $0.header("push-reason-class") }) == ["unknown"])
            await fixture.testClient.close()
        }

        /// Where every message was when the worker had ended.
        private struct Ending {
            var inFlight = 0
            var told: Set<String> = []
            var outcomes: [String: Int] = [:]
            var retried: Set<String> = []
        }

        /// Runs a worker, tells it to stop once so many results are out and `prepare` has returned, and checks that no
        /// message is lost and none is at two places.
        private static func drain(
            _ fixture: SystemFixture, samples count: Int, afterResults: Int,
            _ prepare: (ChildProcess) async throws -> Void
        ) async throws -> (Ending, JSONDocument) {
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

            var ending = Ending()
            for line in await worker.errors.allLines() where line.contains(#""message":"draining""#) {
                ending.inFlight = try JSONDocument(line).root["message.in_flight"]?.int ?? 0
            }
            let accepted = counters.root["message.accepted"]?.int ?? 0
            let unknown = counters.root["message.unknown"]?.int ?? 0
            let results = try await fixture.testClient.collected(fixture.queue("results"), atLeast: accepted + unknown)
            for result in results {
                let json = try result.json.root
                ending.told.insert(json["id"]?.string ?? "-")
                ending.outcomes[json["outcome"]?.string ?? "-", default: 0] += 1
            }
            let retried = try await fixture.takeWaiting()
            ending.retried = Set(retried.compactMap(\.properties.messageID))
            let left = try await fixture.left(count - results.count - retried.count)
            let waiting = Set(left.compactMap(\.properties.messageID))

            #expect(results.count + retried.count + left.count == count)
            #expect(ending.told.union(ending.retried).union(waiting) == Set(samples.map(\.id)))
            return (ending, counters)
        }
    }
}
