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
        Martlet \(Self.summary)

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
        let words = (["martlet", command.name] + usage + [command.operands].compactMap(\.self))
        let discussion = command.discussion.isEmpty ? "" : "\n\(command.discussion)\n"
        return """
            \(command.summary)

            Usage: \(Self.wrapped(words, indent: 7, width: 100))
            \(discussion)
            Options:
            \(Self.columns(command.options.map { ($0.spelling, $0.help) } + [("--help", "this text")]))

            """
    }

    private static func columns(_ rows: [(left: String, right: String)]) -> String {
        let width = rows.map(\.left.count).max() ?? 0
        return rows.map { "  \($0.left.padded(to: width))  \($0.right)" }.joined(separator: "\n")
    }

    private static func wrapped(_ words: [String], indent: Int, width: Int) -> String {
        var lines = [""]
        for word in words {
            if lines[lines.count - 1].count + word.count + indent >= width {
                lines.append(String(repeating: " ", count: indent + 2) + word)
            } else {
                lines[lines.count - 1] += (lines[lines.count - 1].isEmpty ? "" : " ") + word
            }
        }
        return lines.joined(separator: "\n")
    }
}
