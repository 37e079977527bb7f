/// A Python virtual environment with packages from PyPI.
///
/// The build folder keeps the environment until the requirements change.
public struct PythonEnvironment: Sendable {
    private static let secondsMax = 300

    private let interpreter: String

    /// Installs the packages, unless the build folder already contains them.
    ///
    /// - Parameter requirements: The path of a requirements file that pins every package.
    /// - Throws: `ProcessError` with pip's output if the packages cannot be installed.
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

    /// Runs a Python program and returns its output lines.
    ///
    /// - Throws: `ProcessError` if the program fails or does not exit in time.
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
