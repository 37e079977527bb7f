/// Python with packages of its own, fetched from PyPI once and kept below the build folder until what is wanted changes.
public struct PythonEnvironment: Sendable {
    private static let secondsMax = 300

    private let interpreter: String

    /// - Parameter requirements: a file that pins every package, as for `pip install -r`.
    /// - Throws: `ProcessError` with what pip said when they cannot be had.
    public init(_ name: String, requirements: String) async throws(ProcessError) {
        let folder = Products.file(".build/python/\(name)")
        interpreter = "\(folder)/bin/python"
        let mark = "\(folder)/installed.txt"
        guard try await ChildProcess.run(["cmp", "-s", requirements, mark]).exit.status != .exited(0) else { return }
        try await Self.run(["python3", "-m", "venv", "--clear", folder])
        try await Self.run([
            interpreter, "-m", "pip", "install", "--disable-pip-version-check", "--requirement", requirements,
        ])
        try await Self.run(["cp", requirements, mark])
    }

    /// Runs a program to its end; the lines that it printed.
    ///
    /// - Throws: `ProcessError` with what it said when it fails or takes too long.
    public func run(
        _ program: String, _ arguments: [String], environment: [String: String] = [:],
        within: Duration = TestTimeout.duration
    ) async throws(ProcessError) -> [String] {
        let settings = environment.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        return try await Self.run(["env"] + settings + [interpreter, program] + arguments, within: within)
    }

    @discardableResult
    private static func run(
        _ command: [String], within: Duration = .seconds(secondsMax)
    ) async throws(ProcessError) -> [String] {
        let result = try await ChildProcess.run(command, within: within)
        guard result.exit.status == .exited(0) else {
            throw ProcessError(
                "\(command.joined(separator: " ")):\n\((result.output + result.errors).suffix(20).joined(separator: "\n"))"
            )
        }
        return result.output
    }
}
