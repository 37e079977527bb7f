import CommandKit
import Configuration
import DeadLetters
import EventLoop
import RegistrationTools
import Registrations
import Text

/// A command that uses the registration store of a configuration.
protocol RegistrationsCommand: ConfiguredCommand {
    /// Whether the command changes the store. A command that only reads an SQLite store opens the file for reading.
    static var changesStore: Bool { get }

    var configPath: String { get }
    /// The users that the command concerns. The command reads them before it opens the store, since standard input may
    /// block.
    var users: UserChoice { get }

    /// Runs the command on the loop. The store is open if the command uses it.
    func execute(_ task: RegistrationsTask) async -> ExitCode
}

extension RegistrationsCommand {
    var users: UserChoice { .none }

    func execute() throws(ConfigurationError) -> ExitCode { try execute(opensStore: true) }

    /// Runs the command with the store of its configuration.
    ///
    /// - Parameter opensStore: false for a command that does not use the store.
    func execute(opensStore: Bool) throws(ConfigurationError) -> ExitCode {
        let access = try RegistrationsAccess(configPath, changesStore: Self.changesStore)
        guard let users = users.users() else { return .failed }
        return access.run(users, opensStore: opensStore) { await execute($0) }
    }
}

extension RegistrationsAccess {
    /// Runs `body` on a new loop, with an open store if `opensStore` is true. Prints the reason if the store cannot be
    /// opened.
    ///
    /// - Returns: The exit code of `body`, or of the failure.
    fileprivate func run(
        _ users: [String], opensStore: Bool, _ body: @escaping @Sendable (RegistrationsTask) async -> ExitCode
    ) -> ExitCode {
        Interruption.block()
        return CommandLoop.run { loop in
            let interruption = Interruption(on: loop)
            defer { interruption.end() }
            let task: RegistrationsTask
            do throws(StoreFault) {
                task = try RegistrationsTask(self, of: users, on: loop, interruption)
            } catch {
                return report(error)
            }
            guard opensStore else { return await body(task) }
            let code: ExitCode
            do throws(StoreFault) {
                try await task.store.open { fault in
                    Terminal.error.line("martlet: waiting for the registration store: \(fault.sentence)".printable)
                }
                interruption.hasBegun = true
                code = await body(task)
            } catch {
                code = report(error)
            }
            await task.store.close()
            return code
        }
    }
}
