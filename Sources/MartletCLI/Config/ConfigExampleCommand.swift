import CommandKit
import Configuration

/// The command that prints an example configuration file.
struct ConfigExampleCommand: Command {
    static let syntax = CommandSyntax(
        path: ["config", "example"],
        summary: "Print a configuration file with a comment on every key.",
        discussion: """
            The first line of the file refers editors to the schema in config.schema.json in the same folder. To create the
            schema, run: martlet schema config > config.schema.json
            """)

    init(_ parsed: ParsedArguments) {}

    func run() -> ExitCode {
        Terminal.output.write(String(decoding: PrintedSchema.exampleConfiguration, as: UTF8.self)) ? .success : .failed
    }
}
