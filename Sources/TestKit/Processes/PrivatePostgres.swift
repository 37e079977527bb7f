package import Crypto
import Glibc

/// A private PostgreSQL server with a free port on the loopback interface and a temporary directory.
///
/// The server stops when this process exits.
package actor PrivatePostgres {
    /// The user that tests connect as. It owns ``database``, and needs ``password`` over TCP.
    package static let user = "martlet"
    package static let password = "correct horse"
    package static let database = "push"
    private static let administrator = "postgres"

    package nonisolated let port: UInt16
    /// The folder of the Unix socket. Over this socket, every user may connect without a password.
    package nonisolated var directory: String { folder.path }
    private let folder: TemporaryDirectory
    private let settings: [String]
    private var server: ChildProcess?

    /// Starts a server and waits until it accepts connections.
    ///
    /// - Parameters:
    ///   - certificate: The certificate of the server. If it is nil, the server does not accept TLS.
    ///   - isDurable: Whether commits wait for the disk.
    ///   - settings: Additional settings of `postgresql.conf`, as `name=value`.
    ///   - walFolder: The path of a new folder for the WAL, whose segments then have 1 MB. The server's user must have
    ///     the right to create the folder. If the path is nil, the WAL is in the temporary directory.
    package init(
        certificate: IssuedCertificate? = nil, isDurable: Bool = false, settings: [String] = [],
        walFolder: String? = nil
    ) async throws(ProcessError) {
        folder = try TemporaryDirectory("postgres")
        port = try FreePort.choose()
        try PostgresPrograms.own(folder.path)
        var settings = settings + ["fsync=\(isDurable ? "on" : "off")"]
        if let certificate { settings += try Self.write(certificate, to: folder) }
        self.settings = settings
        try await PostgresPrograms.run(
            "initdb",
            [
                "--pgdata", folder.file("data"), "--username", Self.administrator, "--auth", "trust", "--no-sync",
                "--no-locale", "--encoding", "UTF8", "--no-instructions",
            ] + (walFolder.map { ["--waldir", $0, "--wal-segsize", "1"] } ?? []))
        try PostgresPrograms.own(
            try folder.write(
                "data/pg_hba.conf",
                """
                local all all trust
                local replication all trust
                host all \(Self.administrator) 127.0.0.1/32 trust
                host all all 127.0.0.1/32 scram-sha-256

                """))
        try await start()
        try await sql("CREATE ROLE \(Self.user) LOGIN PASSWORD '\(Self.password)'", database: Self.administrator)
        try await sql("CREATE DATABASE \(Self.database) OWNER \(Self.user)", database: Self.administrator)
    }

    /// Starts a streaming standby of `primary`. The standby accepts no writes before `promote()`.
    package init(standbyOf primary: PrivatePostgres) async throws(ProcessError) {
        folder = try TemporaryDirectory("postgres")
        port = try FreePort.choose()
        settings = primary.settings
        try PostgresPrograms.own(folder.path)
        try await PostgresPrograms.run(
            "pg_basebackup",
            [
                "--pgdata", folder.file("data"), "--host", primary.directory, "--port", "\(primary.port)",
                "--username", Self.administrator, "--checkpoint", "fast", "--wal-method", "stream",
                "--write-recovery-conf", "--no-sync",
            ])
        try await start()
    }

    /// Calls `body` with a new server, and then ends the server.
    package static func with(
        isDurable: Bool = false, settings: [String] = [], _ body: (PrivatePostgres) async throws -> Void
    ) async throws {
        try await PrivatePostgres(isDurable: isDurable, settings: settings).use(body)
    }

    /// Calls `body`, and then ends the server.
    package nonisolated func use(_ body: (PrivatePostgres) async throws -> Void) async throws {
        let result: Result<Void, any Error>
        do {
            result = .success(try await body(self))
        } catch {
            result = .failure(error)
        }
        try await end()
        try result.get()
    }

    private static func write(
        _ certificate: IssuedCertificate, to folder: TemporaryDirectory
    ) throws(ProcessError) -> [String] {
        let files = [("server.pem", certificate.certificatePEM), ("server.key", certificate.privateKeyPEM)]
        for (name, text) in files {
            let file = try folder.write(name, text)
            chmod(file, 0o600)
            try PostgresPrograms.own(file)
        }
        return [
            "ssl=on", "ssl_cert_file=\(folder.file("server.pem"))", "ssl_key_file=\(folder.file("server.key"))",
        ]
    }

    /// Runs SQL with `psql` as the administrator, and returns the lines of its output: rows with `|` between columns.
    ///
    /// - Throws: `ProcessError` with the server's message if a statement fails.
    @discardableResult
    package func sql(
        _ text: String, database: String = PrivatePostgres.database, within: Duration = TestTimeout.duration
    ) async throws(ProcessError) -> [String] {
        try await PostgresPrograms.run(
            "psql",
            [
                "--no-psqlrc", "--no-align", "--tuples-only", "--quiet", "--set", "ON_ERROR_STOP=1", "--host",
                directory,
                "--port", "\(port)", "--username", Self.administrator, "--dbname", database, "--command", text,
            ], within: within)
    }

    /// Waits until a session waits for an event, as named in the column `wait_event` of `pg_stat_activity`.
    package func waitUntilWaiting(for event: String) async throws {
        try await poll(until: "a session waits for \(event)", every: .milliseconds(10)) {
            try await sql("SELECT count(*) > 0 FROM pg_stat_activity WHERE wait_event = '\(event)'") == ["t"]
        }
    }

    /// Waits until a session executes `pg_sleep`.
    package func waitUntilSleeping() async throws { try await waitUntilWaiting(for: "PgSleep") }

    /// Ends the sessions that execute `pg_sleep`.
    package func endSleepingSessions() async throws(ProcessError) {
        try await sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'PgSleep'")
    }

    /// Runs a script with `pgbench` as ``user``, with prepared statements and generic plans. Returns the transactions
    /// per second.
    package func transactionsPerSecond(
        of script: String, database: String, clients: Int, seconds: Int
    ) async throws(ProcessError) -> Double {
        let output = try await PostgresPrograms.run(
            "pgbench",
            [
                "--no-vacuum", "--protocol", "prepared", "--client", "\(clients)", "--time", "\(seconds)", "--file",
                try folder.write("pgbench.sql", script), "--host", directory, "--port", "\(port)", "--username",
                Self.user, "dbname=\(database) options='-c plan_cache_mode=force_generic_plan'",
            ], within: TestTimeout.duration + .seconds(seconds))
        let line = output.first { $0.hasPrefix("tps = ") }
        guard let rate = line?.split(separator: " ").dropFirst(2).first.flatMap({ Double($0) }) else {
            throw ProcessError("cannot read the output of pgbench: \(output)")
        }
        return rate
    }

    /// Returns the lines that `pg_dump` prints for a database.
    package func dump(database: String) async throws(ProcessError) -> [String] {
        try await PostgresPrograms.run(
            "pg_dump",
            ["--host", directory, "--port", "\(port)", "--username", Self.administrator, "--dbname", database])
    }

    /// Starts the server, which must not be running, and waits until it accepts connections.
    package func start() async throws(ProcessError) {
        let places = [
            "listen_addresses=127.0.0.1", "port=\(port)", "unix_socket_directories=\(folder.path)",
            "log_destination=stderr",
            "logging_collector=off",
        ]
        let options = (places + settings).flatMap { ["-c", $0] }
        let server = try await ChildProcess(
            try PostgresPrograms.command("postgres", ["-D", folder.file("data")] + options),
            environment: ["PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"], output: .nothing)
        self.server = server
        _ = try await server.errors.line { $0.contains("database system is ready to accept") }
    }

    /// Stops the server and waits for its exit. The server rolls back open transactions and closes all connections.
    package func stop() async throws(ProcessError) {
        server?.send(signal: SIGINT)
        _ = try await server?.exit()
    }

    package func restart() async throws(ProcessError) {
        try await stop()
        try await start()
    }

    /// Kills all processes of the server, and waits until they have exited.
    package func kill() async throws(ProcessError) {
        // A suspended postmaster starts no further process.
        pause()
        let killed = processes
        for process in killed { Glibc.kill(process, SIGKILL) }
        _ = try await server?.exit()
        // A new server does not start while a killed process still uses the shared memory.
        do {
            try await poll(until: "the server's processes have ended", every: .milliseconds(5)) {
                !killed.contains(where: Self.isRunning)
            }
        } catch { throw ProcessError("cannot kill the server: \(error)") }
    }

    private static func isRunning(_ process: pid_t) -> Bool {
        guard let stat = try? Files.bytes(of: "/proc/\(process)/stat"), let end = stat.lastIndex(of: UInt8(ascii: ")"))
        else { return false }
        return ![UInt8(ascii: "Z"), UInt8(ascii: "X")].contains(stat[(end + 1)...].first { $0 != UInt8(ascii: " ") })
    }

    /// Suspends all processes of the server with SIGSTOP until `resume()`. The kernel still accepts connections.
    package func pause() {
        for process in processes { Glibc.kill(process, SIGSTOP) }
        // Processes may have started after the first list was read.
        for process in processes { Glibc.kill(process, SIGSTOP) }
    }

    package func resume() {
        for process in processes { Glibc.kill(process, SIGCONT) }
    }

    /// Promotes the standby, and waits until it accepts writes.
    package func promote() async throws(ProcessError) {
        try await sql("SELECT pg_promote()", database: Self.administrator)
    }

    /// Returns the CPU time of all running processes of the server.
    package func processorTime() -> Duration {
        processes.reduce(.zero) { $0 + ProcessFigures.processorTime(of: $1) }
    }

    /// Stops the server, or removes the shared memory of a killed server.
    package func end() async throws(ProcessError) {
        guard let server else { return }
        if server.isRunning {
            resume()
            server.send(signal: SIGQUIT)
            _ = try await server.exit()
        } else {
            // Only a start removes the shared memory of a killed server.
            try await start()
            try await stop()
        }
        self.server = nil
    }

    /// The IDs of the postmaster and its child processes; empty if the server does not run.
    private var processes: [pid_t] {
        guard let server, server.isRunning else { return [] }
        let children = (try? Files.bytes(of: "/proc/\(server.pid)/task/\(server.pid)/children")) ?? []
        return [server.pid]
            + children.split(separator: UInt8(ascii: " ")).compactMap {
                pid_t(String(decoding: $0, as: UTF8.self))
            }
    }
}
