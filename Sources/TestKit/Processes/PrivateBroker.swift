import Glibc

/// A RabbitMQ of its own: free ports, loopback only, a temporary directory; started and ended by `deploy/broker/start`,
/// which ends it also when this process dies.
public actor PrivateBroker {
    /// `amqp://guest:guest@127.0.0.1:PORT/`
    public nonisolated let url: String
    /// `amqps://guest:guest@localhost:PORT/`, when it was given a certificate.
    public nonisolated let tlsURL: String?
    /// `http://guest:guest@127.0.0.1:PORT`, when it was asked for.
    public nonisolated let managementURL: String?
    public nonisolated let port: UInt16
    /// Where it takes connections of other nodes.
    public nonisolated let distributionPort: UInt16
    /// What Erlang calls it.
    public nonisolated var nodeName: String { "martlet\(port)@localhost" }
    private let script: ChildProcess
    /// Where its `rabbitmqctl` is.
    public nonisolated let directory: String
    private var serverPID: pid_t

    /// One broker for all who can share one within this process; starts at the first use.
    public static var shared: PrivateBroker {
        get async throws { try await sharedStart.value }
    }
    private static let sharedStart = Task { try await PrivateBroker() }

    /// Starts a broker and waits until it takes connections.
    ///
    /// - Parameters:
    ///   - certificate: PEM files; with them it listens for `amqps` as well.
    ///   - hasManagement: with the management API, which takes seconds more.
    ///   - plugins: more that are on.
    ///   - settings: more lines of `rabbitmq.conf`.
    ///   - first: a node of the cluster that it joins, which must outlive it.
    ///   - group: the id of the group of users that it runs as; takes root.
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
        else { throw ProcessError("deploy/broker/start printed \(ready)") }
        self.url = url
        self.port = port
        self.distributionPort = distributionPort
        tlsURL = ready["tls_url"]
        managementURL = ready["management_url"]
        serverPID = pid
        self.directory = directory
    }

    /// Stops it as an operator would; what is durable stays.
    public func stop() async throws(ProcessError) {
        try script.write(line: "stop")
        _ = try await script.output.line(where: { $0 == "stopped" })
    }

    /// Kills it as a crash would; what is durable and confirmed stays.
    public func kill() async throws(ProcessError) {
        try script.write(line: "kill")
        _ = try await script.output.line(where: { $0 == "stopped" })
    }

    /// Starts it again, on the same ports.
    public func start() async throws(ProcessError) {
        try script.write(line: "start")
        serverPID = try await Self.ready(script)["pid"].flatMap { pid_t($0) } ?? serverPID
    }

    public func restart() async throws(ProcessError) {
        try await stop()
        try await start()
    }

    /// Runs `rabbitmqctl` on it; what it printed.
    ///
    /// - Throws: `ProcessError` with what it said when it exits with another status than 0.
    @discardableResult
    public func rabbitmqctl(_ arguments: String...) async throws(ProcessError) -> [String] {
        let (exit, output, errors) = try await ChildProcess.run(["\(directory)/rabbitmqctl", "--silent"] + arguments)
        guard exit.status == .exited(0) else {
            throw ProcessError("rabbitmqctl \(arguments): \((output + errors).joined(separator: "\n"))")
        }
        return output
    }

    /// Makes a user, who has no permissions yet; the URL by which it logs in.
    public func addUser(_ name: String, password: String) async throws(ProcessError) -> String {
        try await rabbitmqctl("add_user", name, password)
        return url.replacing("guest:guest", with: "\(name):\(password)")
    }

    /// Stops the server's process where it is, so that it answers nothing, until `resume()`.
    public func pause() { Glibc.kill(serverPID, SIGSTOP) }

    public func resume() { Glibc.kill(serverPID, SIGCONT) }

    /// The processor time that the server has used since its last start.
    public func processorTime() -> Duration {
        ProcessFigures.processorTime(of: serverPID)
    }

    /// Ends it for good and removes its files; the end of this process does so as well.
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
            throw ProcessError("no private broker: \(script.errors.linesSoFar.joined(separator: "\n"))")
        }
    }
}
