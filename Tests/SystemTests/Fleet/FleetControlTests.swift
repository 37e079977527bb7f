import AMQP
import Glibc
import JSON
import TestKit
import Testing

extension ChangingWorkerTests {
    /// Workers that an operator controls through the broker.
    @Suite struct FleetControl {
        private static let app = "com.example.app"
        private static let other = "com.example.other"

        private static func fixture(_ prefix: String) async throws -> SystemFixture {
            var options = SystemFixture.Options(keys: [try FixtureKey("OTHERKEY01", apps: [other])], delays: ["1s"])
            options.sections = ["fleet: {report_interval: 1s}"]
            let fixture = try await SystemFixture(prefix, options)
            try await fixture.applyTopology()
            await fixture.testClient.collect(fixture.queue("results"))
            return fixture
        }

        private static func martlet(
            _ fixture: SystemFixture, _ arguments: String...
        ) async throws -> (status: ChildExit.Status, output: String, errors: String) {
            let result = try await ChildProcess.run(
                [Products.executable("martlet")] + arguments + ["--config", fixture.configuration])
            return (
                result.exit.status, result.output.joined(separator: "\n"), result.errors.joined(separator: "\n")
            )
        }

        @Test func `A pause is in force in every worker, also in one that starts later`() async throws {
            let fixture = try await Self.fixture("fleet-pause")
            let first = try await fixture.worker()
            let second = try await fixture.worker()
            let paused = try await Self.martlet(
                fixture, "pause", "--fleet", "--topic", Self.app, "--reason", "wrong campaign", "--until", "2h")
            #expect(paused.status == .exited(0), "\(paused.errors)")
            #expect(paused.output == "revision 1: in force at 2 of 2 workers that report")
            for worker in [first, second] {
                let line = try await worker.waitForLog("pause started by operator").root
                #expect(line["pause.scope"]?.string == "topic \(Self.app)")
                #expect(line["pause.reason"]?.string == "wrong campaign")
            }

            let third = try await fixture.worker()
            let held = Sample.make(30)
            let free = Sample.make(30, from: 1000, app: Self.other)
            try await fixture.publish(held + free)
            try await fixture.results(of: free).expectAcceptedOnFirstAttempt(free)
            #expect(try await fixture.apns.counters().root["accepted"]?.int == free.count)

            let status = try await Self.martlet(fixture, "status", "--fleet")
            #expect(status.status == .exited(0), "\(status.errors)")
            #expect(status.output.contains("\n3 workers reported"))
            #expect(status.output.contains("wrong campaign"))
            #expect(status.output.contains("martlet resume --fleet --topic \(Self.app)"))

            let again = try await Self.martlet(
                fixture, "resume", "--fleet", "--topic", Self.other)
            #expect(again.output == "unchanged: the fleet has no pause of topic \(Self.other)")
            let resumed = try await Self.martlet(fixture, "resume", "--fleet", "--topic", Self.app)
            #expect(resumed.output == "revision 2: in force at 3 of 3 workers that report", "\(resumed.errors)")
            let results = try await fixture.results(of: held)
            #expect(results.unexpected(held) { $0.map(\.outcome) == ["accepted"] }.count == 0)
            for worker in [first, second, third] { _ = try await worker.stop() }
            try await fixture.expectNothingLeft()
            _ = try await fixture.end()
        }

        @Test func `Concurrent pauses are all in force, and a pause ends by itself`() async throws {
            let fixture = try await Self.fixture("fleet-writers")
            let worker = try await fixture.worker()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 1...6 {
                    group.addTask {
                        let result = try await Self.martlet(
                            fixture, "pause", "--fleet", "--topic", "com.example.none\(number)", "--reason", "test",
                            "--until", number == 1 ? "5s" : "1h")
                        #expect(result.status == .exited(0), "\(result.errors)")
                    }
                }
                try await group.waitForAll()
            }
            let status = try await Self.martlet(fixture, "status", "--fleet", "--json")
            let report = try JSONDocument(Array(status.output.utf8)).root
            #expect(report["pauses"]?["revision"]?.int == 6)
            try await worker.waitForLog("pause ended by operator")
            let later = try await Self.martlet(fixture, "status", "--fleet", "--json")
            let paused = try JSONDocument(Array(later.output.utf8)).root["status"]?["paused"]?.elements.compactMap(
                \.string)
            #expect(Set(paused ?? []) == Set((2...6).map { "topic com.example.none\($0)" }))
            _ = try await worker.stop()
            _ = try await fixture.end()
        }

        @Test func `A paused fleet stays paused after a reload, and a worker outside the fleet is named`() async throws
        {
            let fixture = try await Self.fixture("fleet-everything")
            let paused = try await Self.martlet(fixture, "pause", "--fleet", "--yes", "--reason", "maintenance")
            // Without a worker, no worker confirms the pause.
            #expect(paused.status == .exited(1))
            let worker = try await fixture.startWorker()
            try await worker.waitForLog("pause started by operator")
            var options = SystemFixture.Options(
                keys: [try FixtureKey("OTHERKEY01", apps: [Self.other])], delays: ["2s"])
            options.sections = ["fleet: {report_interval: 2s}"]
            try fixture.write(options)
            try await fixture.applyTopology()
            worker.send(signal: SIGHUP)
            try await worker.waitForLog("configuration reloaded")
            let samples = Sample.make(20)
            try await fixture.publish(samples)
            try await fixture.waitForMessages(samples.count, in: "requests")
            let status = try await Self.martlet(fixture, "status", "--fleet")
            #expect(status.output.contains("1 worker reported") && status.output.contains("maintenance"))

            options.sections = []
            try fixture.write(options)
            let outside = try await fixture.worker()
            options.sections = ["fleet: {}"]
            try fixture.write(options)
            let named = try await Self.martlet(fixture, "status", "--fleet")
            #expect(named.status == .exited(1))
            #expect(named.errors.contains("1 consumer at the broker belongs to workers that do not report"))
            let results = try await fixture.results(of: samples)
            #expect(results.unexpected(samples) { $0.map(\.outcome) == ["accepted"] }.count == 0)
            _ = try await outside.stop()
            let ended = try await worker.stop().root
            #expect(ended["process.exit_code"]?.int == 0)
            _ = try await fixture.end()
        }

        @Test func `A worker runs without the streams, and is counted as not reporting`() async throws {
            let fixture = try await Self.fixture("fleet-broken")
            let worker = try await fixture.worker()
            try await fixture.testClient.delete(["pauses", "commands"].map { fixture.queue($0) })
            try await worker.waitForLog("pauses of the fleet not read")
            let samples = Sample.make(100)
            try await fixture.publish(samples)
            try await fixture.results(of: samples).expectAcceptedOnFirstAttempt(samples)
            let pause = try await Self.martlet(fixture, "pause", "--fleet", "--yes", "--reason", "test")
            #expect(pause.status == .exited(1))
            #expect(pause.errors.contains("martlet: cannot pause everything: "))
            try await fixture.applyTopology()
            try await worker.waitForLog("pauses of the fleet read again")
            let repeated = try await Self.martlet(fixture, "pause", "--fleet", "--yes", "--reason", "test")
            #expect(repeated.output == "revision 1: in force at 1 of 1 workers that report", "\(repeated.errors)")
            _ = try await worker.stop()
            _ = try await fixture.end()
        }
    }
}
