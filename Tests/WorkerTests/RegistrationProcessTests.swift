import AMQP
import Crypto
import EventLoop
import Glibc
import JSON
import Registrations
import TestKit
import Testing

/// A worker process with a store of registrations.
@Suite(.timeLimit(.minutes(10))) struct RegistrationProcessTests {
    private static let prefix = "registered"

    /// Returns the sections `admin` and `registrations` of the configuration.
    private static func section(port: UInt16, devicesPerUserMax: Int, in folder: TemporaryDirectory) -> String {
        """
        admin: {listen: "127.0.0.1:\(port)"}
        registrations:
          store: sqlite:\(folder.file("registrations.db"))
          keys_file: keys.json
          devices_per_user_max: \(devicesPerUserMax)
        """
    }

    private func writeKeys(_ folder: TemporaryDirectory, _ text: [UInt8]? = nil) throws {
        let text = try text ?? RegistrationKeys.generatedFile()
        let keys = try folder.write("keys.json", String(decoding: text, as: UTF8.self))
        try #require(chmod(keys, 0o640) == 0)
    }

    private func register(
        _ user: String, at milliseconds: Int64, prefix: String = Self.prefix, _ stage: Stage
    ) async throws {
        let body = """
            {"command":"register","app":"com.example.app","user":"\(user)","device_token":"\(Stage.token)",\
            "registered_at":\(milliseconds)}
            """
        let message = OutgoingMessage(
            exchange: "\(prefix).registrations", routingKey: "any", body: Array(body.utf8),
            messageID: try UUIDValue.random().description)
        #expect(try await BrokerClients.publish([message], to: stage.broker.url) == [.confirmed])
    }

    private func registrations(port: UInt16) async throws -> JSONValue? {
        let result = try await ChildProcess.run([
            Products.executable("martlet"), "status", "--json", "--url", "http://127.0.0.1:\(port)",
        ])
        let text = try #require(result.output.first, "\(result.errors)")
        return try JSONDocument(text).root["registrations"]
    }

    @Test func `A worker stores registrations, and keeps its store at a reload`() async throws {
        let stage = try await Stage(prefix: Self.prefix)
        let port = try FreePort.choose()
        try writeKeys(stage.directory)
        func section(_ devicesPerUserMax: Int) -> String {
            Self.section(port: port, devicesPerUserMax: devicesPerUserMax, in: stage.directory)
        }
        let worker = try await stage.worker(section: section(7))
        let now = try EpollLoop().now.unixMilliseconds
        try await register("ann", at: now, stage)
        try await register("bob", at: now + 1, stage)
        let moved = try await stage.results(count: 1)
        #expect(moved[0].contains(#""event":"moved""#) && moved[0].contains(#""new_user":"bob""#), "\(moved)")

        let status = try #require(try await registrations(port: port))
        for member in ["consumed", "publishing", "storing"] { #expect(status[key: member]?.bool == true, "\(member)") }
        #expect(status["reasons"]?.count == 0)
        let maps = try await ChildProcess.run(["cat", "/proc/\(worker.pid)/maps"]).output
        #expect(maps.contains { $0.contains("libsqlite3") } && !maps.contains { $0.contains("libpq") })

        // The previous generation and the next one write to the same file until the previous one has ended.
        try stage.writeConfiguration(logLevel: "info", section: section(8))
        worker.send(signal: SIGHUP)
        _ = try await worker.errors.line { $0.contains(#""event":"configuration.lanes_left""#) }
        try await register("cid", at: now + 2, stage)
        #expect(try await stage.results(count: 1)[0].contains(#""new_user":"cid""#))

        worker.send(signal: SIGTERM)
        #expect(try await worker.exit().status == .exited(0))
        let log = await worker.errors.allLines()
        #expect(!log.contains { $0.contains(#""level":"warning""#) || $0.contains(#""level":"error""#) }, "\(log)")
        try await stage.end()
    }

    @Test func `A worker without a data key holds commands, and continues once its key file has the key`() async throws
    {
        let prefix = "keyed"
        let stage = try await Stage(prefix: prefix)
        let port = try FreePort.choose()
        let first = try RegistrationKeys.generatedFile()
        let added = try RegistrationKeys(json: first, source: "test").file(after: .add)
        let active = try RegistrationKeys(json: added, source: "test").file(after: .activate(2))
        try writeKeys(stage.directory, active)
        let worker = try await stage.worker(
            section: Self.section(port: port, devicesPerUserMax: 7, in: stage.directory))
        let now = try EpollLoop().now.unixMilliseconds
        try await register("ann", at: now, prefix: prefix, stage)
        try await register("bob", at: now + 1, prefix: prefix, stage)
        #expect(try await stage.results(count: 1)[0].contains(#""event":"moved""#))

        try writeKeys(stage.directory, first)
        worker.send(signal: SIGHUP)
        // Wait for the new consumer, because the consumer of the former configuration has the key.
        _ = try await worker.errors.line { $0.contains(#""event":"configuration.lanes_left""#) }
        while try await registrations(port: port)?["data_keys"]?.count != 1 {}
        try await register("cid", at: now + 2, prefix: prefix, stage)
        let lost = try await worker.errors.line {
            $0.contains(#""event":"registration.store_lost""#) && $0.contains("keys_file has no data key 2")
        }
        #expect(!lost.contains(Stage.token))
        let reasons = try #require(try await registrations(port: port)?["reasons"]).elements.compactMap(\.string)
        #expect(reasons.contains { $0.contains("keys_file has no data key 2") }, "\(reasons)")

        try writeKeys(stage.directory, active)
        worker.send(signal: SIGHUP)
        #expect(try await stage.results(count: 1)[0].contains(#""new_user":"cid""#))
        worker.send(signal: SIGTERM)
        #expect(try await worker.exit().status == .exited(0))
        try await stage.end()
    }

    // The lock of the file permits one worker.
    @Test func `A second worker of an SQLite store reports the first one`() async throws {
        let stage = try await Stage(prefix: "second")
        let ports = [try FreePort.choose(), try FreePort.choose()]
        try writeKeys(stage.directory)
        func section(_ port: UInt16) -> String {
            Self.section(port: port, devicesPerUserMax: 7, in: stage.directory)
        }
        let first = try await stage.worker(section: section(ports[0]))
        while try await registrations(port: ports[0])?["storing"]?.bool != true {}
        let second = try await stage.worker(section: section(ports[1]))
        var reasons: [String] = []
        while reasons.isEmpty {
            reasons = try await registrations(port: ports[1])?["reasons"]?.elements.compactMap(\.string) ?? []
        }
        #expect(reasons.contains { $0.contains("process \(first.pid) uses the file") }, "\(reasons)")
        let ready = try await ChildProcess.run(["curl", "-s", "http://127.0.0.1:\(ports[1])/readyz"]).output
        #expect(ready.first == "ok" && ready.contains { $0.hasPrefix("registrations: ") }, "\(ready)")

        first.send(signal: SIGTERM)
        #expect(try await first.exit().status == .exited(0))
        while try await registrations(port: ports[1])?["storing"]?.bool != true {}
        second.send(signal: SIGTERM)
        #expect(try await second.exit().status == .exited(0))
        try await stage.end()
    }
}
