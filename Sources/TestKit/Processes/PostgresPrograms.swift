import Glibc

/// The programs of the newest PostgreSQL version that is installed from Debian's packages.
///
/// PostgreSQL refuses to run as root, so a process of root runs the programs as the user `postgres`.
package enum PostgresPrograms {
    private static let root = "/usr/lib/postgresql"
    private static let user = "postgres"

    /// Returns a command that runs a program. The program receives SIGQUIT when this process exits. A server then stops
    /// immediately and removes its shared memory.
    static func command(_ program: String, _ arguments: [String]) throws(ProcessError) -> [String] {
        guard let version = try Files.names(in: root).max(by: { Int($0) ?? 0 < Int($1) ?? 0 }) else {
            throw ProcessError("cannot run \(program): \(root) is empty; install the package postgresql")
        }
        let identity = geteuid() == 0 ? ["--reuid=\(user)", "--regid=\(user)", "--clear-groups"] : []
        return ["/usr/bin/setpriv", "--pdeathsig", "QUIT"] + identity + ["--", "\(root)/\(version)/bin/\(program)"]
            + arguments
    }

    /// Runs a program and returns its output lines.
    ///
    /// - Throws: `ProcessError` if the program does not exit in time, or, with its output, if the exit status is not 0.
    @discardableResult
    static func run(
        _ program: String, _ arguments: [String], within: Duration = TestTimeout.duration
    ) async throws(ProcessError) -> [String] {
        let (exit, output, errors) = try await ChildProcess.run(
            try command(program, arguments), environment: ["PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"],
            within: within)
        guard exit.status == .exited(0) else {
            throw ProcessError("\(program): \((output + errors).joined(separator: "\n"))")
        }
        return output
    }

    /// Makes the user of the programs the owner of a file or folder. Has no effect unless this process runs as root.
    package static func own(_ path: String) throws(ProcessError) {
        guard geteuid() == 0 else { return }
        guard let entry = getpwnam(user), chown(path, entry.pointee.pw_uid, entry.pointee.pw_gid) == 0 else {
            throw ProcessError(errno, "cannot give \(path) to the user \(user)")
        }
    }
}
