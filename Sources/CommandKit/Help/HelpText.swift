import Text

/// The output of `--help`, which is generated from the syntax of the commands.
struct HelpText: Sendable {
    let program: Program

    /// Maximum number of columns of a wrapped line.
    static let columnsMax = 80
    /// Maximum number of columns of a name with the explanation on the same line. Longer names have the explanation
    /// on the next line.
    private static let nameColumnsMax = 30

    /// Returns help for a command or a group of commands. For other topics, returns the program's help.
    func text(for topic: String) -> String {
        program.shownCommands.first { $0.name == topic }.map(text) ?? group(topic) ?? overview
    }

    private func group(_ word: String) -> String? {
        let members = program.shownCommands.filter { $0.path.count > 1 && $0.path.first == word }
        guard !members.isEmpty else { return nil }
        return """
            Usage: \(program.name) \(word) COMMAND [options]

            Commands:
            \(Self.columns(members.map { ($0.path.dropFirst().joined(separator: " "), $0.summary) }))

            For help on a command, run: \(program.name) \(word) COMMAND --help

            """
    }

    private var overview: String {
        """
        \(Self.paragraphs(program.introduction))

        Usage: \(program.name) COMMAND [options]

        Commands:
        \(Self.columns(program.shownCommands.map { ($0.name, $0.summary) }))

        Options:
        \(Self.columns(program.standardOptions.map { ($0.spelling, $0.help) }))

        \(surroundings)
        """
    }

    private func text(for command: CommandSyntax) -> String {
        let discussion = command.discussion.isEmpty ? "" : "\n\(Self.paragraphs(command.discussion))\n"
        let sections = program.sections(of: command, helpOfHelp: "print this help")
        let width = Self.nameColumns(sections.flatMap(\.options).map(\.spelling))
        let lists = sections.map { section in
            let title = Self.wrapped(Self.words("\(section.title):"))
            return "\(title)\n\(Self.columns(section.options.map { ($0.spelling, $0.help) }, nameColumns: width))\n"
        }
        return """
            \(Self.wrapped(Self.words(command.summary)))

            Usage: \(Self.wrapped(usage(command), from: 7, indent: 9))
            \(discussion)
            \(lists.joined(separator: "\n"))
            """ + (command.path.isEmpty ? "\n\(surroundings)" : "")
    }

    /// Returns the words of the usage line. If the options have several sections, the line contains `[options]`
    /// instead.
    private func usage(_ command: CommandSyntax) -> [String] {
        let shown = command.sections.flatMap(\.shownOptions)
        let options =
            command.sections.count > 1 ? ["[options]"] : shown.map { $0.isRequired ? $0.spelling : "[\($0.spelling)]" }
        return [program.invocation(command.name)] + options + [command.operands].compactMap(\.self)
    }

    /// Environment variables and exit codes.
    private var surroundings: String {
        let environment = program.environment.map { (left: $0.name, right: $0.help) }
        return (environment.isEmpty ? "" : "Environment:\n\(Self.columns(environment))\n\n") + """
            Exit codes:
            \(Self.columns(program.exitCodes.map { ("\($0.code.rawValue)", $0.meaning) }))

            """
    }

    /// Returns whether a paragraph of a discussion is a table, whose lines are not wrapped.
    static func isTable(_ paragraph: some StringProtocol) -> Bool {
        paragraph.contains("\n ") || paragraph.contains(":  ")
    }

    private static func paragraphs(_ text: String) -> String {
        text.split(separator: "\n\n").map { isTable($0) ? String($0) : wrapped(words($0)) }.joined(separator: "\n\n")
    }

    private static func words(_ text: some StringProtocol) -> [String] {
        text.split { $0 == " " || $0 == "\n" }.map { String($0) }
    }

    /// Returns the length of the longest name of at most ``nameColumnsMax`` columns; 0 if all names are longer.
    private static func nameColumns(_ names: [String]) -> Int {
        names.map(\.count).filter { $0 <= nameColumnsMax }.max() ?? 0
    }

    private static func columns(_ rows: [(left: String, right: String)], nameColumns width: Int? = nil) -> String {
        let width = width ?? nameColumns(rows.map(\.left))
        let indent = width + 4
        let space = String(repeating: " ", count: indent)
        return rows.map { row in
            let name = row.left.count > width ? "\(row.left)\n\(space)" : row.left.padded(to: width) + "  "
            return "  \(name)\(wrapped(words(row.right), from: indent, indent: indent))"
        }.joined(separator: "\n")
    }

    /// Joins words into lines.
    ///
    /// - Parameters:
    ///   - start: columns that are already used in the first line.
    ///   - indent: indentation of the other lines.
    private static func wrapped(_ words: [String], from start: Int = 0, indent: Int = 0) -> String {
        var text = ""
        var column = start
        for word in words {
            if !text.isEmpty, column + 1 + word.count > columnsMax {
                text += "\n" + String(repeating: " ", count: indent)
                column = indent
            } else if !text.isEmpty {
                text += " "
                column += 1
            }
            text += word
            column += word.count
        }
        return text
    }
}
