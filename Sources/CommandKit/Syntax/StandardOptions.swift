/// The options that the command kit adds to a program: they print a text and end the program.
extension Program {
    /// The explanation of `--help`.
    var helpOfHelp: String { onlyCommand == nil ? "help; after a command: on that command" : "help" }

    /// Those of a command line without a command.
    var standardOptions: [OptionSyntax] { standardOptions(helpOfHelp) }

    private func standardOptions(_ helpOfHelp: String) -> [OptionSyntax] {
        let later = onlyCommand == nil ? "; after a command: of that command" : ""
        let documents = [
            OptionSyntax(name: "manual", help: "the manual page, in roff\(later)"),
            OptionSyntax(
                name: "completion", value: "SHELL", help: "the completion script of bash or zsh",
                values: .cases(of: CompletionShell.self)),
        ]
        return [OptionSyntax(name: "help", help: helpOfHelp), OptionSyntax(name: "version", help: "the version")]
            + (hasDocumentOptions ? documents : [])
    }

    /// The sections of a command's options; the last one ends with standard options.
    ///
    /// - Parameter helpOfHelp: the explanation of `--help`.
    func sections(of command: CommandSyntax, helpOfHelp: String) -> [(title: String, options: [OptionSyntax])] {
        let added =
            command.path.isEmpty ? standardOptions(helpOfHelp) : [OptionSyntax(name: "help", help: helpOfHelp)]
        return command.sections.enumerated().map { index, section in
            (section.title, section.shownOptions + (index == command.sections.count - 1 ? added : []))
        }
    }

    /// The command line that prints a manual page.
    var manualInvocation: String { hasDocumentOptions ? "\(name) --manual" : "\(name) man" }

    /// The command line that prints a completion script.
    func completionInvocation(_ shell: CompletionShell) -> String {
        "\(name) \(hasDocumentOptions ? "--completion" : "completion") \(shell.rawValue)"
    }
}
