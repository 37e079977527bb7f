/// Pages in roff for man(7), made from the syntax and texts of `--help`.
struct ManualPage {
    let program: Program

    /// - Parameter command: a name; of others, and of "": the page of the program itself.
    func text(for command: String) -> String {
        guard let command = program.shownCommands.first(where: { $0.name == command }) else { return overview }
        let options = program.sections(of: command, helpOfHelp: program.helpOfHelp).map { section in
            let title = command.sections.count > 1 ? ".SS \"\(Roff.escaped(section.title))\"\n" : ""
            return title + Self.list(section.options.map { (Self.spelling($0), $0.help) })
        }.joined()
        let sections = [
            ("SYNOPSIS", synopsis(command)), ("DESCRIPTION", Self.paragraphs(description(command))),
            ("OPTIONS", options),
        ]
        guard !command.path.isEmpty else {
            return page(name: program.name, summary: program.summary, sections: sections + surroundings)
        }
        return page(
            name: pageName(command), summary: command.summary,
            sections: sections + [("SEE ALSO", ".BR \(Roff.escaped(program.name)) (1)\n")])
    }

    private var overview: String {
        let commands = program.shownCommands
        return page(
            name: program.name, summary: program.summary,
            sections: [
                ("SYNOPSIS", ".B \(Roff.escaped(program.name))\n.I COMMAND\n[options]\n"),
                ("COMMANDS", Self.list(commands.map { ("\\fB\(Roff.escaped($0.name))\\fR", $0.summary) })),
                ("OPTIONS", Self.list(program.standardOptions.map { (Self.spelling($0), $0.help) })),
            ] + surroundings + [
                ("SEE ALSO", commands.map { ".BR \(Roff.escaped(pageName($0))) (1)\n" }.joined())
            ])
    }

    /// Variables and exit codes.
    private var surroundings: [(title: String, text: String)] {
        [
            ("ENVIRONMENT", Self.list(program.environment.map { ("\\fB\($0.name)\\fR", $0.help) })),
            ("EXIT STATUS", Self.list(program.exitCodes.map { ("\\fB\($0.code.rawValue)\\fR", $0.meaning) })),
        ]
    }

    /// The page of a command begins with its summary; that of a program has another one.
    private func description(_ command: CommandSyntax) -> String {
        command.path.isEmpty ? "\(command.summary)\n\n\(command.discussion)" : command.discussion
    }

    /// `martlet-topology-apply`, as git and others do.
    private func pageName(_ command: CommandSyntax) -> String {
        ([program.name] + command.path).joined(separator: "-")
    }

    private func page(name: String, summary: String, sections: [(title: String, text: String)]) -> String {
        let version = Roff.escaped("\(program.name) \(program.version)")
        let summary = summary.hasSuffix(".") ? String(summary.dropLast()) : summary
        let head = """
            .\\" Made by \(program.manualInvocation).
            .TH \(Roff.escaped(name.uppercased())) 1 "" "\(version)" "Martlet"
            .nh
            .ad l
            .SH NAME
            \(Roff.escaped(name)) \\- \(Roff.escaped(summary))

            """
        return head + sections.filter { !$0.text.isEmpty }.map { ".SH \"\($0.title)\"\n\($0.text)" }.joined()
    }

    private func synopsis(_ command: CommandSyntax) -> String {
        let shown = command.sections.flatMap(\.shownOptions)
        let options =
            command.sections.count > 1
            ? ["[options]"] : shown.map { $0.isRequired ? Self.spelling($0) : "[\(Self.spelling($0))]" }
        let words = options + [command.operands.map { "\\fI\(Roff.escaped($0))\\fR" }].compactMap(\.self)
        return ".B \(Roff.escaped(program.invocation(command.name)))\n" + words.map { $0 + "\n" }.joined()
    }

    private static func spelling(_ option: OptionSyntax) -> String {
        let name = "\\fB\(Roff.escaped(option.flag))\\fR"
        return option.value.map { "\(name) \\fI\(Roff.escaped($0))\\fR" } ?? name
    }

    private static func list(_ rows: [(left: String, right: String)]) -> String {
        rows.map { ".TP\n\($0.left)\n\(Roff.escaped($0.right))\n" }.joined()
    }

    /// Tables keep their lines; other paragraphs flow.
    private static func paragraphs(_ text: String) -> String {
        text.split(separator: "\n\n").map { paragraph in
            let lines = paragraph.split(separator: "\n").map { Roff.escaped(String($0)) }.joined(separator: "\n")
            return HelpText.isTable(paragraph) ? ".PP\n.nf\n\(lines)\n.fi\n" : ".PP\n\(lines)\n"
        }.joined()
    }
}
