import CommandKit
import Configuration

/// Prints a schema of the contract.
struct SchemaCommand: Command {
    static let syntax = CommandSyntax(
        path: ["schema"],
        summary: "Print a schema: of messages, or of the configuration.",
        discussion: """
            notification is what producers publish, result and dead-letter are what becomes of it, config is the
            configuration file. asyncapi says in YAML which exchange and queue has what, and refers to the others by their
            file names, NAME.schema.json.
            """,
        operands: "NAME", operandValues: .cases(of: PrintedSchema.self))

    let schema: PrintedSchema

    init(_ parsed: ParsedArguments) { schema = PrintedSchema(rawValue: parsed.operands[0]) ?? .notification }

    func run() -> ExitCode {
        Terminal.output.write(String(decoding: schema.text, as: UTF8.self)) ? .success : .failed
    }
}
