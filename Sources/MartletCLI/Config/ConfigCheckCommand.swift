import CommandKit
import Configuration
import JSON
import JSONSchema
import Text

/// The command that checks whether a worker would start with each given configuration file.
struct ConfigCheckCommand: Command {
    static let syntax = CommandSyntax(
        path: ["config", "check"],
        summary: "Check configuration files and the files that they name.",
        discussion: """
            Perform the checks of a starting worker without connecting. Print all mistakes to standard error. Exit code 0: a
            worker would start with each file, 1: a file has mistakes.
            """,
        operands: "FILE…")

    let paths: [String]

    init(_ parsed: ParsedArguments) { paths = parsed.operands }

    func run() -> ExitCode {
        var code = ExitCode.success
        for path in paths {
            do throws(ConfigurationError) {
                let configuration = try ConfigurationFile(path).worker()
                for warning in configuration.warnings {
                    Terminal.error.line("martlet: \(path): \(warning)".printable)
                }
                for file in configuration.payloadSchemas.files {
                    for warning in file.schema.warnings {
                        Terminal.error.line("martlet: \(file.path): \(warning)".printable)
                    }
                }
                Terminal.output.line("\(path): valid".printable)
            } catch {
                for mistake in error.mistakes { report(mistake) }
                code = .failed
            }
        }
        return code
    }

    private func report(_ mistake: ConfigurationError.Mistake) {
        Terminal.error.line("martlet: \(mistake)")
        guard Terminal.error.isTerminal, let position = mistake.position,
            let text = try? FileReader.bytes(of: mistake.path, bytesMax: ConfigurationFile.bytesMax)
        else { return }
        Terminal.error.line(SourceExcerpt.key(text, position, width: Terminal.error.width))
    }
}
