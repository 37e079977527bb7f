import Glibc

/// A private RabbitMQ with free ports on the loopback interface and a temporary directory.
///
/// `deploy/broker/start` starts and stops the broker, and also stops it when this process exits.
public actor PrivateBroker {
    /// The URL `amqp://guest:guest@127.0.0.1:PORT/`.
    public nonisolated let url: String
    /// The URL `amqps://guest:guest@localhost:PORT/`; nil without a certificate.
    public nonisolated let tlsURL: String?
    /// The URL `http://guest:guest@127.0.0.1:PORT`; nil without the management plugin.
    public nonisolated let managementURL: String?
    public nonisolated let port: UInt16
    /// The port for connections of other nodes.
    public nonisolated let distributionPort: UInt16
    /// The name of the Erlang node.
    public nonisolated var nodeName: String { "martlet\(port)@localhost" }
    private let script: ChildProcess
    /// The folder that contains the broker's `rabbitmqctl`.
    public nonisolated let directory: String
    private var serverPID: pid_t

    /// The shared broker of this process, started on first use.
    public static var shared: PrivateBroker {
        get async throws { try await sharedStart.value }
    }
    private static let sharedStart = Task { try await PrivateBroker() }

    /// Starts a broker and waits until it accepts connections.
    ///
    /// - Parameters:
    ///   - certificate: The PEM files for `amqps`; nil to listen only for `amqp`.
    ///   - hasManagement: Whether to enable the management plugin, which adds seconds to the start.
    ///   - plugins: Additional plugins to enable.
    ///   - settings: Additional lines of `rabbitmq.conf`.
    ///   - first: A node of the cluster to join, which must outlive this node.
    ///   - group: The group ID of the broker's process. Requires root.
    public init(
        certificate: (certificate: String, key: String)? = nil, hasManagement: Bool = false,
        plugins: [String] = [], settings: [String] = [], joining first: PrivateBroker? = nil, group: Int? = nil
    ) async throws(ProcessError) {
        var command = [Products.file("deploy/broker/start")]
        if let certificate { command += ["--tls", certificate.certificate, certificate.key] }
        if hasManagement { command.append("--management") }
        for plugin in plugins { command += ["--plugin", plugin] }
        for setting in settings { command += ["--setting", setting] }
        if let first { command += ["--join", first.directory] }
        if let group { command += ["--group", "\(group)"] }
        script = try await ChildProcess(command, whenOrphaned: .terminated, input: .pipe)
        let ready = try await Self.ready(script)
        guard let url = ready["url"], let port = url.split(separator: ":").last.flatMap({ UInt16($0.dropLast()) }),
            let distributionPort = ready["distribution_port"].flatMap({ UInt16($0) }),
            let pid = ready["pid"].flatMap({ pid_t($0) }), let directory = ready["dir"]
        else { throw ProcessError("unexpected output of deploy/broker/start: \(ready)") }
        self.url = url
        self.port = port
        self.distributionPort = distributionPort
        tlsURL = ready["tls_url"]
        managementURL = ready["management_url"]
        serverPID = pid
        self.directory = directory
    }

    /// Stops the broker cleanly. Durable objects and persistent messages remain.
    public func stop() async throws(ProcessError) {
        try script.write(line: "stop")
        _ = try await script.output.line(where: { $0 == "stopped" })
    }

    /// Kills the broker. Durable objects and confirmed persistent messages remain.
    public func kill() async throws(ProcessError) {
        try script.write(line: "kill")
        _ = try await script.output.line(where: { $0 == "stopped" })
    }

    /// Starts the stopped or killed broker on the same ports.
    public func start() async throws(ProcessError) {
        try script.write(line: "start")
        serverPID = try await Self.ready(script)["pid"].flatMap { pid_t($0) } ?? serverPID
    }

    public func restart() async throws(ProcessError) {
        try await stop()
        try await start()
    }

    /// Runs `rabbitmqctl` and returns its output lines.
    ///
    /// - Throws: `ProcessError` with the output if the exit status is not 0.
    @discardableResult
    public func rabbitmqctl(_ arguments: String...) async throws(ProcessError) -> [String] {
        let (exit, output, errors) = try await ChildProcess.run(["\(directory)/rabbitmqctl", "--silent"] + arguments)
        guard exit.status == .exited(0) else {
            throw ProcessError("rabbitmqctl \(arguments): \((output + errors).joined(separator: "\n"))")
        }
        return output
    }

    /// Adds a user without permissions and returns the user's broker URL.
    public func addUser(_ name: String, password: String) async throws(ProcessError) -> String {
        try await rabbitmqctl("add_user", name, password)
        return url.replacing("guest:guest", with: "\(name):\(password)")
    }

    /// Suspends the server's process with SIGSTOP until `resume()`.
    public func pause() { Glibc.kill(serverPID, SIGSTOP) }

    public func resume() { Glibc.kill(serverPID, SIGCONT) }

    /// Returns the CPU time of the server since its last start.
    public func processorTime() -> Duration {
        ProcessFigures.processorTime(of: serverPID)
    }

    /// Stops the broker permanently and removes its files. The exit of this process does the same.
    public func end() async throws(ProcessError) {
        script.closeInput()
        _ = try await script.exit()
    }

    private static func ready(_ script: ChildProcess) async throws(ProcessError) -> [String: String] {
        do {
            let line = try await script.output.line(where: { $0.hasPrefix("ready ") })
            return line.split(separator: " ").dropFirst().reduce(into: [:]) { found, word in
                let pair = word.split(separator: "=", maxSplits: 1)
                if pair.count == 2 { found[String(pair[0])] = String(pair[1]) }
            }
        } catch {
            throw ProcessError("cannot start a private broker: \(script.errors.linesSoFar.joined(separator: "\n"))")
        }
    }
}
