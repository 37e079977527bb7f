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
                let line = try await worker.waitForLog("pause started").root
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
                            "--until", number == 1 ? "20s" : "1h")
                        #expect(result.status == .exited(0), "\(result.errors)")
                    }
                }
                try await group.waitForAll()
            }
            let status = try await Self.martlet(fixture, "status", "--fleet", "--json")
            let report = try JSONDocument(Array(status.output.utf8)).root
            #expect(report["pauses"]?["revision"]?.int == 6)
            try await worker.waitForLog("pause ended")
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
            try await worker.waitForLog("pause started")
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

        @Test func `A worker that is cut off is counted as not reporting`() async throws {
            let fixture = try await Self.fixture("fleet-cut-off")
            let workers = [try await fixture.worker(), try await fixture.worker()]
            workers[1].send(signal: SIGSTOP)
            let cutOff = try await Self.martlet(fixture, "status", "--fleet")
            #expect(cutOff.status == .exited(1))
            #expect(cutOff.output.contains("\n1 worker reported"))
            #expect(cutOff.errors.contains("1 consumer at the broker belongs to workers that do not report"))
            workers[1].send(signal: SIGCONT)
            let both = try await Self.martlet(fixture, "status", "--fleet")
            #expect(both.status == .exited(0), "\(both.errors)")
            #expect(both.output.contains("\n2 workers reported"))
            for worker in workers { _ = try await worker.stop() }
            _ = try await fixture.end()
        }

        // Held requests return after an hour, so without the command no request probes the breakers.
        @Test func `A probe closes the breakers of a repaired key in every lane of every worker`() async throws {
            let key = try FixtureKey("OTHERKEY01", apps: [Self.other])
            var options = SystemFixture.Options(keys: [key], delays: ["1h"], lanes: 2)
            options.sections = ["fleet: {report_interval: 25s}"]
            let fixture = try await SystemFixture("fleet-probe", options)
            try await fixture.applyTopology()
            await fixture.testClient.collect(fixture.queue("results"))
            let workers = [try await fixture.worker(), try await fixture.worker()]
            try await key.revoke(at: fixture.apns)
            let samples = Sample.make(200, app: Self.other)
            try await fixture.publish(samples)
            for worker in workers {
                for _ in 0..<2 { try await worker.waitForLog("breaker opened, pushes held") }
            }
            try await poll(until: "all requests wait") {
                var count = 0
                for queue in fixture.waitQueues { count += try await fixture.testClient.count(in: queue) }
                return count == samples.count
            }

            let tooEarly = try await Self.martlet(fixture, "probe", "--key", key.id, "--why", "test")
            #expect(tooEarly.status == .exited(1))
            #expect(tooEarly.output.hasPrefix("probed 4 breakers in 2 workers, returned "), "\(tooEarly)")
            #expect(tooEarly.errors.contains("still open: "))
            #expect(try workers.allSatisfy { try $0.count(of: "breaker closed, pushes resumed") == 0 })

            try await key.revoke(false, at: fixture.apns)
            let start = ContinuousClock.now
            let probed = try await Self.martlet(fixture, "probe", "--fleet", "--key", key.id, "--why", "repaired")
            #expect(ContinuousClock.now - start < .seconds(15))
            #expect(probed.status == .exited(0), "\(probed)")
            for worker in workers {
                #expect(try worker.count(of: "breaker closed, pushes resumed") == 2)
                let probes = try worker.logged.map(\.root).filter { $0["fleet.command"]?.string == "probe" }
                #expect(probes.map { $0["pause.reason"]?.string } == ["test", "repaired"])
            }
            let again = try await Self.martlet(fixture, "probe", "--all", "--why", "repaired")
            #expect(again.status == .exited(0) && again.output == "probed 0 breakers in 2 workers", "\(again)")
            let back = try await Self.martlet(fixture, "waits", "bring-back", "--all")
            #expect(back.status == .exited(0), "\(back.errors)")
            try await fixture.results(of: samples).expectAcceptedOnFirstAttempt(samples)
            for worker in workers { _ = try await worker.stop() }
            try await fixture.expectNothingLeft()
            #expect(try Pushes(await fixture.end()).notAcceptedOnce(samples) == [])
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
            // An action that the audit cannot record does not begin.
            #expect(pause.errors.contains("audit.pause"))
            try await fixture.applyTopology()
            try await worker.waitForLog("pauses of the fleet read again")
            let repeated = try await Self.martlet(fixture, "pause", "--fleet", "--yes", "--reason", "test")
            #expect(repeated.output == "revision 1: in force at 1 of 1 workers that report", "\(repeated.errors)")
            _ = try await worker.stop()
            _ = try await fixture.end()
        }
    }
}
