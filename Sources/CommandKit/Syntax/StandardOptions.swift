/// Options that print a text and exit. Every program has `--help` and `--version`.
extension Program {
    /// Explanation of `--help`.
    var helpOfHelp: String { onlyCommand == nil ? "print help; after a command: help on the command" : "print help" }

    /// Options of a command line without a command.
    var standardOptions: [OptionSyntax] { standardOptions(helpOfHelp) }

    private func standardOptions(_ helpOfHelp: String) -> [OptionSyntax] {
        let later = onlyCommand == nil ? "; after a command: the page of the command" : ""
        let documents = [
            OptionSyntax(name: "manual", help: "print the manual page in roff\(later)"),
            OptionSyntax(
                name: "completion", value: "SHELL", help: "print the completion script of bash or zsh",
                values: .cases(of: CompletionShell.self)),
        ]
        return [OptionSyntax(name: "help", help: helpOfHelp), OptionSyntax(name: "version", help: "print the version")]
            + (hasDocumentOptions ? documents : [])
    }

    /// Returns the sections of a command's options, without hidden options. Adds `--help` to the last section. Adds all
    /// standard options instead if the command is the only command of the program.
    ///
    /// - Parameter helpOfHelp: explanation of `--help`.
    func sections(of command: CommandSyntax, helpOfHelp: String) -> [(title: String, options: [OptionSyntax])] {
        let added =
            command.path.isEmpty ? standardOptions(helpOfHelp) : [OptionSyntax(name: "help", help: helpOfHelp)]
        return command.sections.enumerated().map { index, section in
            (section.title, section.shownOptions + (index == command.sections.count - 1 ? added : []))
        }
    }

    /// The command that prints a manual page.
    var manualInvocation: String { hasDocumentOptions ? "\(name) --manual" : "\(name) man" }

    /// Returns the command that prints a completion script.
    func completionInvocation(_ shell: CompletionShell) -> String {
        "\(name) \(hasDocumentOptions ? "--completion" : "completion") \(shell.rawValue)"
    }
}
