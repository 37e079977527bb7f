import CommandKit
import Configuration

/// A command that reads a configuration file, or a broker's URL from the command line.
protocol ConfiguredCommand: Command {
    /// Runs the command. See `Command.run`.
    ///
    /// - Throws: the mistakes in the file or the URL.
    func execute() throws(ConfigurationError) -> ExitCode
}

extension ConfiguredCommand {
    func run() -> ExitCode {
        do throws(ConfigurationError) {
            return try execute()
        } catch {
            for mistake in error.mistakes { Terminal.error.line("martlet: \(mistake)") }
            return .usage
        }
    }
}
