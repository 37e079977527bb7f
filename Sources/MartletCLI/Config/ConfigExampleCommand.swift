import CommandKit
import Configuration

/// Prints an example of a configuration file.
struct ConfigExampleCommand: Command {
    static let syntax = CommandSyntax(
        path: ["config", "example"],
        summary: "Print a configuration file with a comment on every key.",
        discussion: """
            Its first line says to editors that it is described by config.schema.json beside it:
            martlet schema config > config.schema.json
            """)

    init(_ parsed: ParsedArguments) {}

    func run() -> ExitCode {
        Terminal.output.write(String(decoding: PrintedSchema.exampleConfiguration, as: UTF8.self)) ? .success : .failed
    }
}
