import CommandKit
import Configuration
import DeadLetters
import EventLoop
import RegistrationTools
import Registrations

/// A command on the registration store that a configuration names.
protocol RegistrationsCommand: ConfiguredCommand {
    /// Whether the command changes the store. Other commands may run beside the worker of a SQLite store.
    static var changesStore: Bool { get }

    var configPath: String { get }

    /// Runs the command on the loop, with an open store.
    func execute(_ task: RegistrationsTask) async -> ExitCode
}

extension RegistrationsCommand {
    func execute() throws(ConfigurationError) -> ExitCode {
        let access = try RegistrationsAccess(configPath, changesStore: Self.changesStore)
        return access.run { await execute($0) }
    }
}

extension RegistrationsAccess {
    /// Opens the store on a new loop, and runs `body`. Prints the reason if the store cannot be opened.
    ///
    /// - Parameter opensStore: false for a command that does not use the store.
    /// - Returns: the exit code of `body`, or of the failure.
    func run(opensStore: Bool = true, _ body: @escaping @Sendable (RegistrationsTask) async -> ExitCode) -> ExitCode {
        Interruption.block()
        return CommandLoop.run { loop in
            let interruption = Interruption(on: loop)
            defer { interruption.end() }
            let code: ExitCode
            let task: RegistrationsTask
            do throws(StoreFault) {
                task = try RegistrationsTask(self, on: loop, interruption)
                if opensStore { try await task.store.open() }
                interruption.hasBegun = true
                code = await body(task)
            } catch {
                return report(error)
            }
            if opensStore { await task.store.close() }
            return code
        }
    }
}
