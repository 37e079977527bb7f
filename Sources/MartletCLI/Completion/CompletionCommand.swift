import CommandKit

/// The command that prints a completion script.
struct CompletionCommand: Command {
    static let syntax = CommandSyntax(
        path: ["completion"],
        summary: "Print the completion script of a shell.",
        discussion: """
            bash:  source <(martlet completion bash), in ~/.bashrc, or its output as
                   martlet in ~/.local/share/bash-completion/completions
            zsh:   its output as _martlet in a folder of $fpath, before compinit runs
            """,
        operands: "SHELL", operandValues: .cases(of: CompletionShell.self))

    let shell: CompletionShell

    init(_ parsed: ParsedArguments) { shell = CompletionShell(rawValue: parsed.operands[0]) ?? .bash }

    func run() -> ExitCode { Terminal.output.write(shell.script(for: .martlet)) ? .success : .failed }
}
