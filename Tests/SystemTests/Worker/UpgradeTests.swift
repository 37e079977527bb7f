import Glibc
import JSON
import TestKit
import Testing

/// The path of the earlier version's `martlet` command; nil if the test does not run.
private let earlierMartlet = getenv("MARTLET_BEFORE").map { String(cString: $0) }

extension SystemTests {
    /// An upgrade and a rollback under load, during which workers of both versions consume the same queues.
    ///
    /// `deploy/trial/upgrade` builds the earlier version.
    @Suite(.enabled(if: earlierMartlet != nil)) struct Upgrade {
        private static let requestsPerSecond = 300
        /// The number of results until the next change.
        private static let requestsOfAPhase = LongForm.pick(6000, short: 1000)

        @Test func workersReplaceEachOther() async throws {
            let before = try #require(earlierMartlet)
            let fixture = try await SystemFixture(
                "upgrade", SystemFixture.Options(simulator: ["--delay-ms", "50"], delays: ["1s", "2s"]))
            // This fault keeps requests in wait queues while workers start and stop.
            try await fixture.apns.request(
                "POST", "/v1/faults",
                #"{"id":"busy","share":0.1,"action":{"answer":{"reason":"TooManyRequests","retry_after_seconds":1}}}"#)
            let text = try fixture.directory.read("martlet.yaml")
            let earlier = try fixture.directory.write("before.yaml", Self.asBefore(text))
            func apply(_ martlet: String, _ configuration: String) async throws {
                let result = try await ChildProcess.run([martlet, "topology", "apply", "--config", configuration])
                try #require(result.exit.status == .exited(0), "\(result.errors)")
            }
            func startBefore() async throws -> ChildProcess {
                let worker = try await ChildProcess([before, "worker", "--config", earlier])
                try await worker.waitForLog("ready")
                return worker
            }
            let results = fixture.queue("results")
            func waitForPhase() async throws {
                let count = await fixture.testClient.collected(results).count
                try await fixture.testClient.collected(results, atLeast: count + Self.requestsOfAPhase)
            }

            try await apply(before, earlier)
            await fixture.testClient.collect(results)
            let samples = Sample.make(6 * Self.requestsOfAPhase)
            let messages = samples.map { $0.message(to: fixture.prefix) }
            async let publishing = fixture.testClient.publish(messages, perSecond: Self.requestsPerSecond)
            let first = try await startBefore()
            try await waitForPhase()
            try await fixture.applyTopology()
            let now = try await fixture.worker()
            try await waitForPhase()
            var accepted = [try await Self.accepted(first)]
            try await waitForPhase()
            let again = try await startBefore()
            try await waitForPhase()
            accepted.append(try await Self.accepted(now))
            _ = try await publishing
            _ = try await fixture.results(of: samples)
            accepted.append(try await Self.accepted(again))
            let reported = try await fixture.allResults()

            try await fixture.expectNothingLeft()
            // The wait queue of the earlier version must be empty too.
            #expect(try await fixture.testClient.getAll(from: fixture.queue("retry.1s")).isEmpty)
            #expect(try await fixture.testClient.count(in: fixture.queue("quarantine")) == 0)
            let pushes = try Pushes(await fixture.end())
            #expect(reported.unexpected(samples) { $0.allSatisfy { $0.outcome == "accepted" } }.map(\.id) == [])
            #expect(samples.filter { pushes.acceptedCount(of: $0) == 0 }.map(\.id) == [])
            #expect(accepted.allSatisfy { $0 > 0 }, "\(accepted)")
            let twice = samples.filter { pushes.acceptedCount(of: $0) > 1 }
            let unmarked = twice.filter { sample in !reported[sample].contains { $0.isPossibleDuplicate } }
            #expect(unmarked.map(\.id) == [])
            // A duplicate push has a cause, such as a lost broker connection. Print the log lines that name the cause.
            for worker in twice.isEmpty ? [] : [first, now, again] {
                let isInfo = #""level":"info""#
                for line in worker.errors.linesSoFar where !line.contains(isInfo) { print(line) }
            }
            let reportedTwice = samples.count { reported[$0].count > 1 }
            let refused = pushes.byID.values.reduce(0) { $0 + $1.count { $0.status == 429 } }
            print(
                "upgrade: \(samples.count) requests at \(Self.requestsPerSecond)/s, all reported; \(accepted[0]) accepted by "
                    + "the earlier version, \(accepted[1]) by this one, \(accepted[2]) by the earlier one again; "
                    + "\(refused) refused with 429 and retried; \(twice.count) pushed twice, \(reportedTwice) reported twice"
            )
        }

        /// Stops a worker and returns the number of requests that it counted as accepted.
        private static func accepted(_ worker: ChildProcess) async throws -> Int {
            try #require(try await worker.stop().root["message.accepted"]?.int)
        }

        /// Returns a configuration in the format of the earlier version (commit 0f9dd8a), which has fewer settings.
        private static func asBefore(_ text: String) -> String {
            text.split(separator: "\n").filter { !$0.hasPrefix("admin:") && !$0.hasPrefix("  proxy:") }
                .joined(separator: "\n")
                // The earlier version allows five attempts by default. With eight, as in this version, no request
                // exhausts its attempts.
                .replacing(/delays: \[(\d+)s.*\]/) { "attempts_max: 8, delay_seconds: \($0.output.1)" }
                .replacing(/, channel_port: \d+/, with: "")
        }
    }
}
