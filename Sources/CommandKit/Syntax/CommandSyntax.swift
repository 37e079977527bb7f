/// The arguments of one command, for the parser, help, manual pages and completion scripts.
package struct CommandSyntax: Sendable {
    /// Words of the command, such as `["topology", "apply"]`; empty for the program's only command.
    package let path: [String]
    /// One line for the list of commands.
    package let summary: String
    /// Paragraphs of the command's help, separated by empty lines; empty if the summary suffices.
    package let discussion: String
    /// Operands in the format of help (`FILE…`; `[COMMAND]` if optional); nil if the command has no operands.
    package let operands: String?
    package let operandValues: ValueSyntax
    /// Sections of the list of options, each with a title.
    package let sections: [OptionSection]
    /// Whether help, manual page and completion scripts omit the command. Only the program itself runs such a command.
    package let isHidden: Bool

    package init(
        path: [String], summary: String, discussion: String = "", operands: String? = nil,
        operandValues: ValueSyntax = .files, sections: [OptionSection], isHidden: Bool = false
    ) {
        self.path = path
        self.summary = summary
        self.discussion = discussion
        self.operands = operands
        self.operandValues = operandValues
        self.sections = sections
        self.isHidden = isHidden
    }

    /// Creates a syntax with all options in one section.
    package init(
        path: [String], summary: String, discussion: String = "", operands: String? = nil,
        operandValues: ValueSyntax = .files, options: [OptionSyntax] = [], isHidden: Bool = false
    ) {
        self.init(
            path: path, summary: summary, discussion: discussion, operands: operands, operandValues: operandValues,
            sections: [OptionSection("Options", options)], isHidden: isHidden)
    }

    package var name: String { path.joined(separator: " ") }
    package var options: [OptionSyntax] { sections.flatMap(\.options) }
    var needsOperand: Bool { operands.map { !$0.hasPrefix("[") } ?? false }
}

/// A section of a command's list of options.
package struct OptionSection: Sendable {
    package let title: String
    package let options: [OptionSyntax]

    package init(_ title: String, _ options: [OptionSyntax]) {
        self.title = title
        self.options = options
    }

    var shownOptions: [OptionSyntax] { options.filter { !$0.isHidden } }
}
