extension CommandSyntax {
    static let schema = CommandSyntax(
        path: ["schema"],
        summary: "Print a schema: of messages, or of the configuration.",
        discussion: """
            notification is what producers publish, result and dead-letter are what becomes of it, config is the
            configuration file. asyncapi says in YAML which exchange and queue has what, and refers to the others by their
            file names, NAME.schema.json.
            """,
        operands: "NAME", operandValues: .words(PrintedSchema.allCases.map(\.rawValue)))

    static let configExample = CommandSyntax(
        path: ["config", "example"],
        summary: "Print a configuration file with a comment on every key.",
        discussion: """
            Its first line says to editors that it is described by config.schema.json beside it:
            martlet schema config > config.schema.json
            """)
}
