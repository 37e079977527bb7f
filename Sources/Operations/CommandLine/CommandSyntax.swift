/// What one command takes: enough to parse its arguments and to print its help.
struct CommandSyntax: Sendable {
    /// The words that call it: `["topology", "apply"]`.
    let path: [String]
    /// One line, for the list of commands.
    let summary: String
    /// More for the command's own help; empty when the summary says it all.
    var discussion = ""
    /// What may stand besides options, as help shows it (`FILE…`, `[COMMAND]` where it may be left out); nil: nothing.
    var operands: String?
    /// What an operand may be.
    var operandValues = ValueSyntax.files
    var options: [OptionSyntax] = []

    var name: String { path.joined(separator: " ") }
    var needsOperand: Bool { operands.map { !$0.hasPrefix("[") } ?? false }
}

/// One `--option`, with or without a value.
struct OptionSyntax: Sendable {
    /// Without the dashes.
    let name: String
    /// What stands for the value in help (`FILE`); nil: a flag.
    var value: String?
    let help: String
    var isRequired = false
    /// Whether the command does its work without an unreadable default, after a warning.
    var isAdvisory = false
    /// May be given several times.
    var isList = false
    /// What the value may be; nil: a file where it is called so in help, else any text.
    var values: ValueSyntax?

    var completion: ValueSyntax { values ?? (value == "FILE" ? .files : .text) }
    var spelling: String { value.map { "--\(name) \($0)" } ?? "--\(name)" }
}

/// What a value or an operand may be: shells complete it, and a wrong word is told before anything is done.
enum ValueSyntax: Sendable, Equatable {
    case text
    case files
    /// One of these.
    case words([String])
    /// The name of a command, in one or two words.
    case commands
}
