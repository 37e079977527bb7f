import CommandKit
import Text

/// The command that prints a manual page.
struct ManualCommand: Command {
    static let syntax = CommandSyntax(
        path: ["man"],
        summary: "Print the manual page of martlet or of a command.",
        discussion: """
            The output is roff. To read it: martlet man watch | man -l -. To package it: martlet man watch > martlet-watch.1.
            """,
        operands: "[COMMAND]", operandValues: .commands)

    /// Name of a command; empty for `martlet` itself.
    let command: String

    init(_ parsed: ParsedArguments) throws(UsageError) {
        command = parsed.operands.joined(separator: " ")
        let names = Program.martlet.shownCommands.map(\.name)
        guard command.isEmpty || names.contains(command) else {
            let hint = Suggestion.nearest(to: command, among: names).map { "; did you mean '\($0)'?" } ?? ""
            throw UsageError("unknown command '\(command)'\(hint)")
        }
    }

    func run() -> ExitCode { Terminal.output.write(Program.martlet.manualPage(of: command)) ? .success : .failed }
}
