extension CommandSyntax {
    static let completion = CommandSyntax(
        path: ["completion"],
        summary: "Print what a shell completes commands and options by.",
        discussion: """
            bash:  source <(martlet completion bash), in ~/.bashrc, or its output as
                   martlet in ~/.local/share/bash-completion/completions
            zsh:   its output as _martlet in a folder of $fpath, before compinit runs
            """,
        operands: "SHELL", operandValues: .words(CompletionShell.allCases.map(\.rawValue)))
}
