import TestKit
import Testing

extension BrokerFaultTests {
    /// The programs of the documentation page with examples for producers.
    ///
    /// The programs use the default prefix and the page's broker user, so each test has its own broker.
    @Suite struct Examples {
        private struct ExamplesFixture {
            let broker: PrivateBroker
            let system: SystemFixture
            /// The broker URL of the page's user.
            let url: String

            init() async throws {
                broker = try await PrivateBroker()
                system = try await SystemFixture("push", broker: broker.url)
                try await system.applyTopology()
                let script = "set -e; PATH='\(broker.directory)':$PATH\n" + (try ExampleProgram.userCommands())
                let created = try await ChildProcess.run(["sh", "-c", script])
                try #require(created.exit.status == .exited(0), "\(created.errors)")
                // Without a path, the URL means the virtual host `/` for each client library.
                url = String(broker.url.replacing("guest:guest", with: "orders:secret").dropLast())
            }

            func run(
                _ program: ExampleProgram, _ device: String = "00aa01"
            ) async throws -> (status: ChildExit.Status, output: [String], errors: [String]) {
                try await program.run(device, broker: url, in: system.directory)
            }

            func end() async throws {
                try await system.end()
                try await broker.end()
            }
        }

        @Test func printTheOutcome() async throws {
            let programs = try ExampleProgram.all()
            #expect(
                programs.map(\.name) == ["first.py", "first.rb", "notify.py", "notify.go", "notify.php", "notify.rb"])
            let fixture = try await ExamplesFixture()
            try await fixture.system.apns.request(
                "PUT", "/v1/devices/00dead02", #"{"app":"com.example.app","state":"unregistered"}"#)
            let worker = try await fixture.system.worker()
            for program in programs {
                let isShort = program.name.hasPrefix("first")
                let accepted = try await fixture.run(program)
                #expect(accepted.status == .exited(0), "\(program): \(accepted.errors)")
                #expect(accepted.output == ["accepted"], "\(program)")

                let rejected = try await fixture.run(program, "00dead02")
                #expect(rejected.status == .exited(0), "\(program): \(rejected.errors)")
                #expect(
                    rejected.output == ["rejected"] + (isShort ? [] : ["delete device token 00dead02"]), "\(program)")

                let invalid = try await fixture.run(program, "no-token")
                #expect(invalid.status == .exited(0), "\(program): \(invalid.errors)")
                #expect(invalid.output.first == "invalid", "\(program)")
                let hasError = invalid.output.last?.hasPrefix("schema pattern: /device_token must match") == true
                #expect(hasError != isShort, "\(program): \(invalid.output)")
            }
            _ = try await worker.stop()
            try await fixture.system.expectNothingLeft(dead: programs.count)
            try await fixture.end()
        }

        @Test func reportRequestsWithoutResult() async throws {
            let fixture = try await ExamplesFixture()
            let page = try ExampleProgram.pageText()
            let all = try ExampleProgram.all()
            let short = all.filter { $0.name.hasPrefix("first") }
            let programs = all.filter { $0.name.hasPrefix("notify") }
            let impatient = try programs.map { try $0.limited(confirm: 2, result: 2) }
            func expect(_ message: String?, from programs: [ExampleProgram]) async throws {
                #expect(message.map { page.contains("`\($0)`") } != false)
                try await withThrowingTaskGroup { group in
                    for program in programs {
                        group.addTask {
                            let result = try await fixture.run(program)
                            let id = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/
                            let printed = result.errors.first?.replacing(id, with: "ID")
                            #expect(result.status == .exited(1), "\(program)")
                            #expect(message == nil || printed == message, "\(program): \(result.errors)")
                            #expect(result.output == [], "\(program)")
                        }
                    }
                    try await group.waitForAll()
                }
            }
            // No worker runs.
            try await expect("no result; the request may still be pushed: ID", from: impatient)

            try await fixture.system.testClient.delete(["push.requests"])
            try await expect("returned: no request queue is bound for this routing key", from: programs)
            // The short programs print their libraries' errors.
            try await expect(nil, from: short)

            try await fixture.broker.rabbitmqctl(
                "set_policy", "full", "^full$", #"{"max-length":0,"overflow":"reject-publish"}"#, "--apply-to",
                "queues")
            try await fixture.system.testClient.bind("full", to: "push.requests", "#")
            try await expect("refused 3 times; publish the same message later: ID", from: programs)
            try await expect(nil, from: short)

            // A memory alarm blocks publishers.
            try await fixture.broker.rabbitmqctl("set_vm_memory_high_watermark", "0")
            try await expect("not confirmed; publish the same message again: ID", from: impatient)
            try await fixture.broker.rabbitmqctl("set_vm_memory_high_watermark", "0.4")
            try await fixture.end()
        }
    }
}
