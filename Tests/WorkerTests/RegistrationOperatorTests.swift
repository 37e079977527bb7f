import EventLoop
import Glibc
import JSON
import Registrations
import TestKit
import Testing

/// Commands of operators while a worker uses the same SQLite store.
@Suite(.timeLimit(.minutes(10))) struct RegistrationOperatorTests {
    private struct Run {
        let status: ChildExit.Status
        let output: [String]
        let errors: [String]
    }

    /// A worker with an SQLite store, and the commands of an operator.
    private struct StoreHarness {
        let stage: Stage
        private let prefix: String

        /// Creates a fixture.
        ///
        /// - Parameter prefix: The prefix of the topology's names, different for each test.
        init(_ prefix: String) async throws {
            self.prefix = prefix
            stage = try await Stage(prefix: prefix)
            let keys = try stage.directory.write(
                "keys.json", String(decoding: RegistrationKeys.generatedFile(), as: UTF8.self))
            try #require(chmod(keys, 0o640) == 0)
        }

        func worker() async throws -> ChildProcess {
            try await stage.worker(
                section: """
                    admin: {enabled: false, socket: "\(stage.directory.file("control.sock"))"}
                    registrations:
                      store: sqlite:\(stage.directory.file("registrations.db"))
                      keys_file: keys.json
                    """)
        }

        /// Runs a command of `martlet registrations`.
        ///
        /// - Parameter url: The broker's URL; nil for the configuration of the worker.
        func run(_ line: String, at url: String? = nil) async throws -> Run {
            let words = line.split(separator: " ").map(String.init)
            let place =
                url.map { ["--url", $0, "--prefix", prefix] } ?? ["--config", stage.directory.file("martlet.yaml")]
            let result = try await ChildProcess.run(
                [Products.executable("martlet"), "registrations", words[0]] + place + words.dropFirst())
            return Run(status: result.exit.status, output: result.output, errors: result.errors)
        }
    }

    /// A registrar may write to the exchange of commands, and has no other permission.
    @Test func `Devices are registered and unregistered with the permissions of a registrar`() async throws {
        let harness = try await StoreHarness("registered-by-hand")
        let worker = try await harness.worker()
        try await harness.stage.broker.rabbitmqctl("add_user", "registrar", "word")
        try await harness.stage.broker.rabbitmqctl(
            "set_permissions", "registrar", "^$", #"^registered-by-hand\.registrations$"#, "^$")
        let url = harness.stage.broker.url.replacing("guest:guest", with: "registrar:word")

        let device = "--app com.example.app --device-token 0a01"
        let first = try await harness.run("register --user ann \(device)", at: url)
        #expect(first.status == .exited(0) && first.output[0].hasPrefix("stored  "), "\(first)")
        let moved = try await harness.run("register --user bob \(device) --json", at: url)
        let reply = try JSONDocument(#require(moved.output.first)).root
        #expect(moved.status == .exited(0) && reply["outcome"]?.string == "moved")
        #expect(reply["command"]?.string == "register" && reply["app"]?.string == "com.example.app")
        let past = try EpollLoop().now.unixMilliseconds - 3_600_000
        let late = try await harness.run("register --user ann \(device) --registered-at \(past)", at: url)
        #expect(late.status == .exited(1) && late.output.isEmpty)
        #expect(late.errors.last?.hasPrefix("superseded  ") == true, "\(late)")
        let unknown = try await harness.run(
            "register --user ann --app com.example.other --device-token 0a02", at: url)
        #expect(unknown.status == .exited(1))
        #expect(unknown.errors.last?.contains("The app is not configured here") == true, "\(unknown)")

        let end = try await harness.run("unregister --app com.example.app --user bob", at: url)
        #expect(end.status == .exited(0) && end.output[0].hasPrefix("ended  "), "\(end)")
        let nothing = try await harness.run("unregister --app com.example.app --user cid", at: url)
        #expect(nothing.status == .exited(0) && nothing.output[0].hasPrefix("not_found  "), "\(nothing)")
        worker.send(signal: SIGTERM)
        #expect(try await worker.exit().status == .exited(0))
        try await harness.stage.end()
    }

    @Test func `Operators change the store beside its worker`() async throws {
        let harness = try await StoreHarness("operated")
        let worker = try await harness.worker()
        for (user, token) in [("zoe4711", "0a01"), ("zoe4711", "0a02"), ("bob", "0b01")] {
            let stored = try await harness.run(
                "register --app com.example.app --user \(user) --device-token \(token)")
            #expect(stored.status == .exited(0), "\(stored)")
        }
        // The record lists each erased registration, and the worker publishes its event at once.
        let erased = try await harness.run("erase --user zoe4711 --yes --reveal")
        #expect(erased.status == .exited(0), "\(erased)")
        let record = try JSONDocument(#require(erased.output.first)).root
        #expect(record["outcome"]?.string == "ended" && record["user"]?.string == "zoe4711")
        let tokens = record["registrations"]?.elements.compactMap { $0["device_token"]?.string } ?? []
        #expect(tokens.sorted() == ["0a01", "0a02"])
        let events = try await harness.stage.results(count: 2)
        #expect(events.allSatisfy { $0.contains(#""event":"erased""#) }, "\(events)")

        try await importMark(harness)
        let file = try harness.stage.directory.write(
            "users.csv",
            "user,app,device_token,registered_at\n"
                + (0..<600).map { "user\($0),com.example.app,\(100_000 + $0),1750000000000\n" }.joined())
        let load = try await harness.run("import \(file)")
        #expect(load.status == .exited(0) && load.output == ["600 stored"], "\(load)")
        for edit in [["--add"], ["--activate", "2"]] {
            let keys = try await ChildProcess.run(
                [Products.executable("martlet"), "registrations", "keys"] + edit + [
                    harness.stage.directory.file("keys.json")
                ])
            #expect(keys.exit.status == .exited(0), "\(keys.errors)")
            _ = try await worker.errors.line { $0.contains(#""event":"configuration.lanes_left""#) }
        }
        let rekey = try await harness.run("rekey")
        #expect(rekey.status == .exited(0) && rekey.output == ["rekeyed 601"], "\(rekey)")
        let unsuspend = try await harness.run("unsuspend --app com.example.app")
        #expect(unsuspend.status == .exited(0) && unsuspend.output == ["unsuspended 0"], "\(unsuspend)")
        #expect(try await harness.run("count --by app").output.last == "601 registrations, 0 suspended")

        worker.send(signal: SIGTERM)
        #expect(try await worker.exit().status == .exited(0))
        let log = await worker.errors.allLines().joined()
        #expect(!log.contains("zoe4711") && !log.contains("user5"))
        // Without a worker, the command changes the file itself.
        #expect(try await harness.run("erase --user bob --yes").status == .exited(0))
        try await harness.stage.end()
    }

    /// The worker would find no row to encrypt. `rekeyed 0` would mean that the old key can be removed.
    @Test func `A worker that encrypts with another key than the command encrypts nothing again`() async throws {
        let harness = try await StoreHarness("other-key")
        let worker = try await harness.worker()
        let device = "register --app com.example.app --user ann --device-token 0a01"
        #expect(try await harness.run(device).status == .exited(0))
        // The command's key file also contains data key 2, which is active.
        let directory = harness.stage.directory
        let keys = try directory.write("next.json", directory.read("keys.json"))
        try #require(chmod(keys, 0o640) == 0)
        for edit in [["--add"], ["--activate", "2"]] {
            let edited = try await ChildProcess.run(
                [Products.executable("martlet"), "registrations", "keys"] + edit + [keys])
            #expect(edited.exit.status == .exited(0), "\(edited.errors)")
        }
        let configuration = try directory.read("martlet.yaml").replacing("keys.json", with: "next.json")
        let next = try directory.write("next.yaml", configuration)
        let rekey = try await ChildProcess.run(
            [Products.executable("martlet"), "registrations", "rekey", "--config", next])
        #expect(rekey.exit.status == .exited(1) && rekey.output == ["rekeyed 0, incomplete"], "\(rekey.output)")
        let sentence = "cannot change the registration store through its worker: the worker encrypts with data key 1 ("
        #expect(rekey.errors.contains { $0.contains(sentence) }, "\(rekey.errors)")
        #expect(rekey.errors.last == "martlet: to continue, run: martlet registrations rekey --config \(next)")

        worker.send(signal: SIGTERM)
        #expect(try await worker.exit().status == .exited(0))
        try await harness.stage.end()
    }

    /// Imports a file that contains only a mark, while the worker runs. Checks that a later export contains the mark.
    private func importMark(_ harness: StoreHarness) async throws {
        let before = try await exportedMarks("before.ndjson", harness)
        let indexKey = try #require(before.first?.root["index_key"]?.string)
        let key = "00000000-0000-4000-8000-000000000001"
        let file = try harness.stage.directory.write(
            "marks.ndjson",
            #"{"end":"mark","index_key":"\#(indexKey)","key":"\#(key)","ended_at":1750000000000,"permanent":true}"#)
        let load = try await harness.run("import \(file)")
        #expect(load.status == .exited(0) && load.output == ["1 ended"], "\(load)")
        let keys = try await exportedMarks("after.ndjson", harness).map { $0.root["key"]?.string }
        #expect(keys.count == before.count + 1 && keys.contains(key), "\(keys)")
    }

    private func exportedMarks(_ name: String, _ harness: StoreHarness) async throws -> [JSONDocument] {
        let export = try await harness.run("export --output \(harness.stage.directory.file(name))")
        #expect(export.status == .exited(0), "\(export)")
        let lines = try harness.stage.directory.read(name).split(separator: "\n")
        return try lines.map { try JSONDocument(String($0)) }.filter { $0.root["end"]?.string == "mark" }
    }
}
