import CommandKit
import Configuration

/// The command that prints a schema of the contract.
struct SchemaCommand: Command {
    static let syntax = CommandSyntax(
        path: ["schema"],
        summary: "Print a schema of messages or of the configuration.",
        discussion: """
            notification describes requests; result and dead-letter describe the messages of workers; config describes the
            configuration file. asyncapi describes the exchanges and queues in YAML, and refers to the other schemas by
            their file names, NAME.schema.json.
            """,
        operands: "NAME", operandValues: .cases(of: PrintedSchema.self))

    let schema: PrintedSchema

    init(_ parsed: ParsedArguments) { schema = PrintedSchema(rawValue: parsed.operands[0]) ?? .notification }

    func run() -> ExitCode {
        Terminal.output.write(String(decoding: schema.text, as: UTF8.self)) ? .success : .failed
    }
}
