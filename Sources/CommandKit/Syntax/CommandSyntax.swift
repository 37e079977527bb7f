/// The arguments of one command: enough to parse them, and to print help, a manual page and completion scripts.
package struct CommandSyntax: Sendable {
    /// The words that call it: `["topology", "apply"]`; empty: the name of the program alone.
    package let path: [String]
    /// One line, for the list of commands.
    package let summary: String
    /// Paragraphs for the command's own help, with an empty line between them; empty when the summary says it all.
    package let discussion: String
    /// Arguments besides options, as help shows them (`FILE…`, `[COMMAND]` where they may be left out); nil: none.
    package let operands: String?
    package let operandValues: ValueSyntax
    /// Parts of the list of options, each with a title.
    package let sections: [OptionSection]
    /// Whether help, manual page and completion scripts leave it out: the program calls it itself.
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

    /// With all options under one title.
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

/// A part of a command's list of options.
package struct OptionSection: Sendable {
    package let title: String
    package let options: [OptionSyntax]

    package init(_ title: String, _ options: [OptionSyntax]) {
        self.title = title
        self.options = options
    }

    var shownOptions: [OptionSyntax] { options.filter { !$0.isHidden } }
}
