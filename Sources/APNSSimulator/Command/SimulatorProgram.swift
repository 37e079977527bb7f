import CommandKit

/// The `apns-simulator` program.
public enum SimulatorProgram {
    static let version = "0.1.0"

    /// Runs a command line. Call the function on the main thread before the process starts other threads.
    ///
    /// - Parameter arguments: the arguments without the program's name.
    /// - Returns: the exit status.
    public static func run(_ arguments: [String]) -> Int32 { Program.simulator.run(arguments).rawValue }
}

extension Program {
    static let simulator = Program(
        name: "apns-simulator", version: SimulatorProgram.version,
        summary: "simulate the Apple Push Notification service for tests", commands: [SimulatorCommand.self],
        exitCodes: [(.success, "terminated by SIGTERM or SIGINT")]
            + SimulatorError.Code.allCases.map { (ExitCode($0), $0.meaning) },
        usageCode: ExitCode(SimulatorError.Code.usage), hasDocumentOptions: true)
}

extension ExitCode {
    init(_ code: SimulatorError.Code) { self.init(rawValue: code.rawValue) }
}
