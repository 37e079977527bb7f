import JSON
import TestKit
import Testing

extension ToolTests {
    /// Third-party clients with a simulator process.
    @Suite struct ForeignClients {
        /// The option for clients that cannot handle refused streams.
        ///
        /// aioapns ignores RST_STREAM, so a concurrent push whose stream is refused waits forever. With a limit of one
        /// stream, as in `announce`, aioapns miscounts its streams. h2load counts refused streams as failures.
        private static let gateOff = ["--gate", "off"]

        private func start(_ options: [String]) async throws -> (SimulatorProcess, TemporaryDirectory) {
            let directory = try TemporaryDirectory("foreign")
            return (try await SimulatorProcess(in: directory, options: options), directory)
        }

        private func push(
            to simulator: SimulatorProcess, _ directory: TemporaryDirectory, _ what: String...
        ) async throws -> [String] {
            let folder = Products.file("Tests/SystemTests/ForeignClients/aioapns")
            let python = try await PythonEnvironment("aioapns", requirements: "\(folder)/requirements.txt")
            return try await python.run(
                "\(folder)/push.py", ["\(simulator.port)", directory.file("AuthKey_DEMOKEY001.p8")] + what,
                environment: ["SSL_CERT_FILE": directory.file("ca.pem")])
        }

        @Test func aioapnsReceivesEachStatus() async throws {
            let (simulator, directory) = try await start([])
            let answers = try await push(to: simulator, directory, "aa01", "dead01", "badbad01", "aa02")
                .map { try JSONDocument($0).root.elements.map { $0.string ?? "\($0.kind)" } }
            #expect(
                answers == [
                    ["200", "null", "null"], ["410", "Unregistered", "number"], ["400", "BadDeviceToken", "null"],
                    ["200", "null", "null"],
                ])
            try await simulator.process.terminate()
        }

        @Test func aioapnsPushesAThousandAtOnce() async throws {
            let (simulator, directory) = try await start(Self.gateOff + ["--delay-ms", "100"])
            #expect(try await push(to: simulator, directory, "--at-once", "1000") == [#"{"200": 1000}"#])
            let counters = try await simulator.counters().root
            #expect(counters["accepted"]?.int == 1000)
            #expect(counters["distinct_ids"]?.int == 1000)
            #expect(counters["requests_abandoned"]?.int == 0)
            #expect(counters["connections"]?.int == 1)
            // aioapns needs about half a millisecond to write a push, so dozens or hundreds of pushes are in flight.
            // Sequential pushes would take 100 seconds.
            let peak = try #require(counters["in_flight_max"]?.int)
            #expect((32...1000).contains(peak), "\(peak) in flight")
            try await simulator.process.terminate()
        }

        /// Uses clients that sign their own tokens, with their default options.
        ///
        /// One client writes `iat` with a fraction, the other client writes a string.
        @Test(arguments: ["apns2", "kalyke"]) func otherClientsSignTheirOwnTokens(client: String) async throws {
            let (simulator, directory) = try await start([])
            let folder = Products.file("Tests/SystemTests/ForeignClients/\(client)")
            let python = try await PythonEnvironment(client, requirements: "\(folder)/requirements.txt")
            let answers = try await python.run(
                "\(folder)/push.py",
                [
                    "\(simulator.port)", directory.file("AuthKey_DEMOKEY001.p8"), directory.file("ca.pem"), "aa01",
                    "dead01", "badbad01", "aa02",
                ])
            #expect(
                answers == [
                    "[200, null]", #"[null, "Unregistered"]"#, #"[null, "BadDeviceToken"]"#, "[200, null]",
                ])
            try await simulator.process.terminate()
        }

        @Test func h2loadPushesToTenThousandDevices() async throws {
            let (simulator, directory) = try await start(Self.gateOff + ["--record", "/dev/null"])
            let load = try LoadGenerator(
                connections: 4, streams: 100, devices: 10_000, authorization: try simulator.authorization(),
                in: directory)
            _ = try await load.run(20_000, port: simulator.port)
            let counters = try await simulator.counters().root
            #expect(counters["accepted"]?.int == 20_000)
            // The token is verified once per connection, not once per request.
            #expect(counters["tokens_verified"]?.int == 4)
            try await simulator.process.terminate()
        }
    }
}
