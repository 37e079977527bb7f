import Text

/// The texts of `--help`, made from the same table that arguments are parsed by.
struct HelpText: Sendable {
    let commands: [CommandSyntax]

    /// Help for one command, for a group of them, or for `martlet` itself when there is none of that name.
    func text(for command: String) -> String {
        commands.first { $0.name == command }.map(text) ?? group(command) ?? overview
    }

    private func group(_ word: String) -> String? {
        let members = commands.filter { $0.path.count > 1 && $0.path.first == word }
        guard !members.isEmpty else { return nil }
        return """
            Usage: martlet \(word) COMMAND [options]

            Commands:
            \(Self.columns(members.map { ($0.path.dropFirst().joined(separator: " "), $0.summary) }))

            Each explains itself: martlet \(word) COMMAND --help

            """
    }

    static let summary =
        "sends push notifications: from RabbitMQ, checked by JSON Schema, to APNs, and the results back."

    static let configVariable =
        "configuration file of commands without --config; empty: none; not set: \(DefaultConfiguration.path)"

    private var overview: String {
        """
        \(Self.wrapped(Self.words("Martlet \(Self.summary)")))

        Usage: martlet COMMAND [options]

        Commands:
        \(Self.columns(commands.map { ($0.name, $0.summary) }))

        Options:
        \(Self.columns([("--help", "help; after a command: on that command"), ("--version", "the version")]))

        Environment:
        \(Self.columns([(DefaultConfiguration.variable, Self.configVariable)]))

        Exit codes:
        \(Self.columns(ExitCode.allCases.map { ("\($0.rawValue)", $0.meaning) }))

        """
    }

    private func text(for command: CommandSyntax) -> String {
        let usage = command.options.map { $0.isRequired ? $0.spelling : "[\($0.spelling)]" }
        let words = ["martlet \(command.name)"] + usage + [command.operands].compactMap(\.self)
        let discussion = command.discussion.isEmpty ? "" : "\n\(Self.discussion(command.discussion))\n"
        return """
            \(Self.wrapped(Self.words(command.summary)))

            Usage: \(Self.wrapped(words, from: 7, indent: 9))
            \(discussion)
            Options:
            \(Self.columns(command.options.map { ($0.spelling, $0.help) } + [("--help", "this text")]))

            """
    }

    /// Columns of a line at most.
    static let width = 80

    /// Whether a paragraph of a discussion is a table, whose lines stay as they are.
    static func isTable(_ paragraph: some StringProtocol) -> Bool {
        paragraph.contains("\n ") || paragraph.contains(":  ")
    }

    private static func discussion(_ text: String) -> String {
        text.split(separator: "\n\n").map { isTable($0) ? String($0) : wrapped(words($0)) }.joined(separator: "\n\n")
    }

    private static func words(_ text: some StringProtocol) -> [String] {
        text.split { $0 == " " || $0 == "\n" }.map { String($0) }
    }

    private static func columns(_ rows: [(left: String, right: String)]) -> String {
        let width = rows.map(\.left.count).max() ?? 0
        return rows.map {
            "  \($0.left.padded(to: width))  \(wrapped(words($0.right), from: width + 4, indent: width + 4))"
        }.joined(separator: "\n")
    }

    /// Joins words into lines.
    ///
    /// - Parameters:
    ///   - start: columns that the first line has already.
    ///   - indent: spaces in front of the other lines.
    private static func wrapped(_ words: [String], from start: Int = 0, indent: Int = 0) -> String {
        var text = ""
        var column = start
        for word in words {
            if !text.isEmpty, column + 1 + word.count > width {
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
