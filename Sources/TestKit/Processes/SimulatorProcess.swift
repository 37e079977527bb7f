public import Crypto
import EventLoop
import Glibc
public import JSON

/// `apns-simulator` as a process, with its demonstration's team: TLS, on a free port, and files that a worker needs.
public struct SimulatorProcess: Sendable {
    public let process: ChildProcess
    public let port: Int
    /// nil unless it was told to listen for the sandbox.
    public let sandboxPort: Int?
    /// Of its page and API; nil unless it was told to listen there.
    public let adminPort: Int?
    /// Where the channels of production are managed.
    public let channelPort: Int?
    /// Where the key and the authority are.
    private let directory: TemporaryDirectory

    /// - Parameter options: more of the command line's.
    /// - Throws: `ProcessError` when it does not start.
    public init(in directory: TemporaryDirectory, options: [String] = []) async throws(ProcessError) {
        try await self.init(
            ["--listen-production", "127.0.0.1:0", "--write-demo", directory.path] + options, directory)
    }

    private init(_ options: [String], _ directory: TemporaryDirectory) async throws(ProcessError) {
        self.directory = directory
        process = try await ChildProcess([try Products.executable("apns-simulator")] + options)
        let line = try await process.output.line { $0.contains(#""event":"ready""#) }
        guard let ready = try? JSONDocument(line).root, let port = ready["production_port"]?.int else {
            throw ProcessError("apns-simulator said \(line)")
        }
        self.port = port
        sandboxPort = ready["port"]?.int
        adminPort = ready["admin_port"]?.int
        channelPort = ready["production_channel_port"]?.int
    }

    /// Starts one more where this one was, which has ended, with the state that this one was started with.
    ///
    /// - Parameter isTrusted: with the same certificate, not one that no client trusts.
    /// - Throws: `ProcessError` when it does not start.
    public func again(isTrusted: Bool = true, options: [String] = []) async throws(ProcessError) -> SimulatorProcess {
        var command = listening(onPort: port)
        if let adminPort { command += ["--admin", "127.0.0.1:\(adminPort)"] }
        if isTrusted { command += certificate }
        return try await SimulatorProcess(command + options, directory)
    }

    /// Starts one more on a port of its own, with the certificate of this one and the state that this one was started with.
    ///
    /// - Throws: `ProcessError` when it does not start.
    public func another(options: [String] = []) async throws(ProcessError) -> SimulatorProcess {
        try await SimulatorProcess(listening(onPort: 0) + certificate + options, directory)
    }

    private func listening(onPort port: Int) -> [String] {
        ["--listen-production", "127.0.0.1:\(port)", "--state", directory.file("state.yaml")]
    }

    private var certificate: [String] {
        ["--certificate", directory.file("server.pem"), "--private-key", directory.file("server-key.pem")]
    }

    /// What it has counted by now.
    ///
    /// - Throws: `ProcessError` when it does not tell.
    public func counters() async throws(ProcessError) -> JSONDocument {
        process.send(signal: SIGUSR1)
        let line = try await process.output.line { $0.contains(#""event":"counters""#) }
        guard let counters = try? JSONDocument(line) else { throw ProcessError("apns-simulator said \(line)") }
        return counters
    }

    /// Asks its admin port.
    ///
    /// - Returns: the JSON that it answers.
    /// - Throws: when it has none, or refuses.
    @discardableResult
    public func ask(_ method: String, _ target: String, _ body: String? = nil) async throws -> JSONDocument {
        guard let port = adminPort.flatMap({ UInt16(exactly: $0) }) else {
            throw ProcessError("apns-simulator has no admin port")
        }
        return try await onEpollLoop { loop in
            let client = try await RawHTTPClient.connect(to: Endpoint(host: "127.0.0.1", port: port), on: loop)
            defer { client.close() }
            let response = try await client.request(method, target, body: body)
            guard response.status < 300 else { throw ProcessError("\(method) \(target): \(response.body)") }
            return try JSONDocument(response.body)
        }
    }

    /// An `authorization` header for the demonstration's team, good for an hour.
    ///
    /// - Throws: `ProcessError` when its key cannot be used.
    public func authorization() throws(ProcessError) -> String {
        do {
            let key = try ES256PrivateKey(pem: directory.read("AuthKey_DEMOKEY001.p8"))
            let header = Base64URL.encode(Array(#"{"alg":"ES256","kid":"DEMOKEY001"}"#.utf8))
            let claims = Base64URL.encode(Array(#"{"iss":"DEMOTEAM01","iat":\#(time(nil))}"#.utf8))
            let signature = try key.sign(Array("\(header).\(claims)".utf8))
            return "bearer \(header).\(claims).\(Base64URL.encode(signature))"
        } catch {
            throw ProcessError("no provider token: \(error)")
        }
    }

    /// Makes a key of the demonstration's team known, and writes its file for a worker. The simulator needs an admin port.
    public func addKey(_ id: String) async throws {
        let key = try ES256PrivateKey.generate()
        try directory.write("AuthKey_\(id).p8", try key.pkcs8PEM())
        try await makeKnown(id, key)
    }

    /// The simulator needs an admin port.
    public func makeKnown(_ id: String, _ key: ES256PrivateKey) async throws {
        var json = JSONWriter()
        json.beginObject()
        json.member("public_key", try key.publicKeyPEM())
        json.endObject()
        try await ask("PUT", "/v1/teams/DEMOTEAM01/keys/\(id)", String(decoding: json.bytes, as: UTF8.self))
    }

    /// Writes the configuration of a worker that sends here; its path.
    ///
    /// - Parameters:
    ///   - apps: their bundle IDs.
    ///   - keys: beside the demonstration's, as `addKey` made them; the apps go by all of them in turns.
    ///   - more: further top-level keys, as YAML.
    public func writeConfiguration(
        amqpURL: String, prefix: String = "push", apps: [String] = ["com.example.app"], keys: [String] = [],
        more: String = ""
    ) throws(ProcessError) -> String {
        let keys = ["DEMOKEY001"] + keys
        let apps = apps.enumerated().map { "\($1): {key: \(keys[$0 % keys.count])}" }
        let entries = keys.map { "    - {key_id: \($0), team_id: DEMOTEAM01, key_file: AuthKey_\($0).p8}" }
        return try directory.write(
            "\(prefix).yaml",
            """
            amqp:
              url: \(amqpURL)
              prefix: \(prefix)
            apns:
              keys:
            \(entries.joined(separator: "\n"))
              endpoints:
                production: {host: 127.0.0.1, port: \(port), ca_file: ca.pem}
            apps: {\(apps.joined(separator: ", "))}
            \(more)
            """)
    }
}

/// `martlet` as a process.
public enum MartletProcess {
    /// Runs one of its commands to the end; what it printed.
    ///
    /// - Throws: `ProcessError` with what it said when it exits with another status than 0.
    @discardableResult
    public static func run(_ arguments: String...) async throws(ProcessError) -> [String] {
        let result = try await ChildProcess.run([Products.executable("martlet")] + arguments)
        guard result.exit.status == .exited(0) else {
            throw ProcessError("martlet \(arguments): \((result.output + result.errors).joined(separator: "\n"))")
        }
        return result.output
    }

    /// Starts a worker and waits until it is ready.
    public static func worker(configuration: String) async throws(ProcessError) -> ChildProcess {
        let worker = try await ChildProcess([Products.executable("martlet"), "worker", "--config", configuration])
        _ = try await worker.errors.line { $0.contains(#""message":"ready""#) }
        return worker
    }
}
