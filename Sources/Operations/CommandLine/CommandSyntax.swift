/// What one command takes: enough to parse its arguments and to print its help.
struct CommandSyntax: Sendable {
    /// The words that call it: `["topology", "apply"]`.
    let path: [String]
    /// One line, for the list of commands.
    let summary: String
    /// More for the command's own help; empty when the summary says it all.
    var discussion = ""
    /// What may stand besides options, as help shows it (`FILE…`); nil: nothing.
    var operands: String?
    var options: [OptionSyntax] = []

    var name: String { path.joined(separator: " ") }
}

/// One `--option`, with or without a value.
struct OptionSyntax: Sendable {
    /// Without the dashes.
    let name: String
    /// What stands for the value in help (`FILE`); nil: a flag.
    var value: String?
    let help: String
    var isRequired = false
    /// May be given several times.
    var isList = false

    var spelling: String { value.map { "--\(name) \($0)" } ?? "--\(name)" }
}
