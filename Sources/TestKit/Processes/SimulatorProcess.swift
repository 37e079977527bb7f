public import Crypto
import EventLoop
import Glibc
public import JSON

/// An `apns-simulator` process with TLS on a free port, the demonstration team, and the files that a worker needs.
public struct SimulatorProcess: Sendable {
    public let process: ChildProcess
    public let port: Int
    /// The port of the sandbox; nil if the simulator has none.
    public let sandboxPort: Int?
    /// The port of the admin page and the admin API; nil if the simulator has none.
    public let adminPort: Int?
    /// The port of channel management for production; nil if the simulator has none.
    public let channelPort: Int?
    /// The folder that contains the provider key and the authority.
    private let directory: TemporaryDirectory

    /// Starts a simulator.
    ///
    /// - Parameter options: Additional command-line options.
    /// - Throws: `ProcessError` if the simulator does not start.
    public init(in directory: TemporaryDirectory, options: [String] = []) async throws(ProcessError) {
        try await self.init(
            ["--listen-production", "127.0.0.1:0", "--write-demo", directory.path] + options, directory)
    }

    private init(_ options: [String], _ directory: TemporaryDirectory) async throws(ProcessError) {
        self.directory = directory
        process = try await ChildProcess([try Products.executable("apns-simulator")] + options)
        let line = try await process.output.line { $0.contains(#""event":"ready""#) }
        guard let ready = try? JSONDocument(line).root, let port = ready["production_port"]?.int else {
            throw ProcessError("unexpected output of apns-simulator: \(line)")
        }
        self.port = port
        sandboxPort = ready["port"]?.int
        adminPort = ready["admin_port"]?.int
        channelPort = ready["production_channel_port"]?.int
    }

    /// Starts a new simulator on the same ports for production and the admin API, with the same initial state.
    ///
    /// The old simulator must have exited.
    ///
    /// - Parameter isTrusted: Whether to use the same certificate. Otherwise clients do not trust the new simulator.
    /// - Throws: `ProcessError` if the simulator does not start.
    public func restarted(isTrusted: Bool = true, options: [String] = []) async throws(ProcessError) -> SimulatorProcess
    {
        var command = listening(onPort: port)
        if let adminPort { command += ["--admin", "127.0.0.1:\(adminPort)"] }
        if isTrusted { command += certificate }
        return try await SimulatorProcess(command + options, directory)
    }

    /// Starts a second simulator on a free port, with the same certificate and initial state.
    ///
    /// - Throws: `ProcessError` if the simulator does not start.
    public func sibling(options: [String] = []) async throws(ProcessError) -> SimulatorProcess {
        try await SimulatorProcess(listening(onPort: 0) + certificate + options, directory)
    }

    private func listening(onPort port: Int) -> [String] {
        ["--listen-production", "127.0.0.1:\(port)", "--state", directory.file("state.yaml")]
    }

    private var certificate: [String] {
        ["--certificate", directory.file("server.pem"), "--private-key", directory.file("server-key.pem")]
    }

    /// Returns the simulator's current counters.
    ///
    /// - Throws: `ProcessError` if the simulator does not print its counters.
    public func counters() async throws(ProcessError) -> JSONDocument {
        process.send(signal: SIGUSR1)
        let line = try await process.output.line { $0.contains(#""event":"counters""#) }
        guard let counters = try? JSONDocument(line) else {
            throw ProcessError("unexpected output of apns-simulator: \(line)")
        }
        return counters
    }

    /// Sends a request to the admin API.
    ///
    /// - Returns: The JSON of the response.
    /// - Throws: An error if the simulator has no admin port, or if the status of the response is 300 or higher.
    @discardableResult
    public func request(_ method: String, _ target: String, _ body: String? = nil) async throws -> JSONDocument {
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

    /// Returns the value of an `authorization` header of the demonstration team, valid for one hour.
    ///
    /// - Throws: `ProcessError` if the key cannot be used.
    public func authorization() throws(ProcessError) -> String {
        do {
            let key = try ES256PrivateKey(pem: directory.read("AuthKey_DEMOKEY001.p8"))
            let header = Base64URL.encode(Array(#"{"alg":"ES256","kid":"DEMOKEY001"}"#.utf8))
            let claims = Base64URL.encode(Array(#"{"iss":"DEMOTEAM01","iat":\#(time(nil))}"#.utf8))
            let signature = try key.sign(Array("\(header).\(claims)".utf8))
            return "bearer \(header).\(claims).\(Base64URL.encode(signature))"
        } catch {
            throw ProcessError("cannot sign a provider token: \(error)")
        }
    }

    /// Registers a new key of the demonstration team and writes its file for a worker. Requires an admin port.
    public func addKey(_ id: String) async throws {
        let key = try ES256PrivateKey.generate()
        try directory.write("AuthKey_\(id).p8", try key.pkcs8PEM())
        try await register(id, key)
    }

    /// Registers a key of the demonstration team. Requires an admin port.
    public func register(_ id: String, _ key: ES256PrivateKey) async throws {
        var json = JSONWriter()
        json.beginObject()
        json.member("public_key", try key.publicKeyPEM())
        json.endObject()
        try await request("PUT", "/v1/teams/DEMOTEAM01/keys/\(id)", String(decoding: json.bytes, as: UTF8.self))
    }

    /// Writes the configuration of a worker that pushes to this simulator, and returns the path of the file.
    ///
    /// - Parameters:
    ///   - apps: The bundle IDs of the apps.
    ///   - keys: Additional keys, which must be registered with `addKey`. The apps are distributed over all keys.
    ///   - more: Additional top-level keys in YAML.
    ///   - name: The name of the file without `.yaml`; nil for the prefix.
    public func writeConfiguration(
        amqpURL: String, prefix: String = "push", apps: [String] = ["com.example.app"], keys: [String] = [],
        more: String = "", named name: String? = nil
    ) throws(ProcessError) -> String {
        let keys = ["DEMOKEY001"] + keys
        let apps = apps.enumerated().map { "\($1): {key: \(keys[$0 % keys.count])}" }
        let entries = keys.map { "    - {key_id: \($0), team_id: DEMOTEAM01, key_file: AuthKey_\($0).p8}" }
        return try directory.write(
            "\(name ?? prefix).yaml",
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

/// Processes of `martlet`.
public enum MartletProcess {
    /// Runs a command and returns its output lines.
    ///
    /// - Throws: `ProcessError` with the output if the exit status is not 0.
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
