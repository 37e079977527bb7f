extension CommandSyntax {
    static let manual = CommandSyntax(
        path: ["man"],
        summary: "Print the manual page of martlet, or of a command.",
        discussion: """
            In roff, as man reads it: martlet man watch | man -l -, or martlet man watch > martlet-watch.1 for a package.
            """,
        operands: "[COMMAND]", operandValues: .commands)
}
