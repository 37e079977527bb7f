import CommandKit
import Configuration
import JSON
import JSONSchema
import Text

/// Says of configuration files whether a worker would start with them.
struct ConfigCheckCommand: Command {
    static let syntax = CommandSyntax(
        path: ["config", "check"],
        summary: "Check configuration files, and the files that they name.",
        discussion: """
            Looks at all that a worker looks at before it starts, and connects to nothing. Exit code 0: a worker would
            start with them, 1: one has mistakes, which are told on standard error, all of them.
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
                for mistake in error.mistakes { tell(mistake) }
                code = .failed
            }
        }
        return code
    }

    private func tell(_ mistake: ConfigurationError.Mistake) {
        Terminal.error.line("martlet: \(mistake)")
        guard Terminal.error.isTerminal, let position = mistake.position,
            let text = try? FileReader.bytes(of: mistake.path, bytesMax: ConfigurationFile.bytesMax)
        else { return }
        Terminal.error.line(SourceExcerpt.key(text, position, width: Terminal.error.width))
    }
}
