/// Pages in roff for man(7), made from the same table and texts as `--help`.
struct ManualPage {
    let commands: [CommandSyntax]

    /// - Parameter command: nil: of `martlet` itself.
    func text(for command: String?) -> String {
        guard let command = commands.first(where: { $0.name == command }) else { return overview }
        return page(
            name: Self.pageName(command), summary: command.summary,
            sections: [
                ("SYNOPSIS", synopsis(command)), ("DESCRIPTION", Self.paragraphs(command.discussion)),
                ("OPTIONS", Self.list(command.options.map { (Self.spelling($0), $0.help) } + [Self.help])),
                ("SEE ALSO", ".BR martlet (1)\n"),
            ])
    }

    private var overview: String {
        page(
            name: "martlet", summary: HelpText.summary,
            sections: [
                ("SYNOPSIS", ".B martlet\n.I COMMAND\n[options]\n"),
                ("COMMANDS", Self.list(commands.map { ("\\fB\(Self.escaped($0.name))\\fR", $0.summary) })),
                ("OPTIONS", Self.list([Self.help, ("\\fB\\-\\-version\\fR", "the version")])),
                (
                    "ENVIRONMENT",
                    Self.list([("\\fB\(DefaultConfiguration.variable)\\fR", HelpText.configVariable)])
                ),
                ("EXIT STATUS", Self.list(ExitCode.allCases.map { ("\\fB\($0.rawValue)\\fR", $0.meaning) })),
                ("SEE ALSO", commands.map { ".BR \(Self.escaped(Self.pageName($0))) (1)\n" }.joined()),
            ])
    }

    private static let help = (left: "\\fB\\-\\-help\\fR", right: "help; after a command: on that command")

    /// `martlet-topology-apply`, as git and others do.
    private static func pageName(_ command: CommandSyntax) -> String {
        (["martlet"] + command.path).joined(separator: "-")
    }

    private func page(name: String, summary: String, sections: [(title: String, text: String)]) -> String {
        let version = Self.escaped("martlet \(MartletCommand.version)")
        let summary = summary.hasSuffix(".") ? String(summary.dropLast()) : summary
        let head = """
            .\\" Made by martlet man.
            .TH \(Self.escaped(name.uppercased())) 1 "" "\(version)" "Martlet"
            .nh
            .ad l
            .SH NAME
            \(Self.escaped(name)) \\- \(Self.escaped(summary))

            """
        return head + sections.filter { !$0.text.isEmpty }.map { ".SH \"\($0.title)\"\n\($0.text)" }.joined()
    }

    private func synopsis(_ command: CommandSyntax) -> String {
        let options = command.options.map { $0.isRequired ? Self.spelling($0) : "[\(Self.spelling($0))]" }
        let words = options + [command.operands.map { "\\fI\(Self.escaped($0))\\fR" }].compactMap(\.self)
        return ".B \(Self.escaped("martlet \(command.name)"))\n" + words.map { $0 + "\n" }.joined()
    }

    private static func spelling(_ option: OptionSyntax) -> String {
        let name = "\\fB\(escaped("--\(option.name)"))\\fR"
        return option.value.map { "\(name) \\fI\(escaped($0))\\fR" } ?? name
    }

    private static func list(_ rows: [(left: String, right: String)]) -> String {
        rows.map { ".TP\n\($0.left)\n\(escaped($0.right))\n" }.joined()
    }

    /// Lines that stand in columns are shown as they are; others flow.
    private static func paragraphs(_ text: String) -> String {
        text.isEmpty
            ? ""
            : text.split(separator: "\n\n").map { paragraph in
                let lines = paragraph.split(separator: "\n").map { escaped(String($0)) }.joined(separator: "\n")
                return HelpText.isTable(paragraph) ? ".PP\n.nf\n\(lines)\n.fi\n" : ".PP\n\(lines)\n"
            }.joined()
    }

    /// Without a meaning for roff: backslashes, hyphens that are to be copied, dots and quotes at the beginning of a line,
    /// and characters that are not ASCII.
    static func escaped(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": escaped += "\\e"
            case "-": escaped += "\\-"
            case "'": escaped += "\\(aq"
            case "\"": escaped += "\\(dq"
            case "^": escaped += "\\(ha"
            case "~": escaped += "\\(ti"
            case "`": escaped += "\\(ga"
            default:
                escaped += scalar.isASCII ? "\(scalar)" : "\\[u\(hexadecimal(scalar.value))]"
            }
        }
        return escaped.hasPrefix(".") ? "\\&" + escaped : escaped
    }

    private static func hexadecimal(_ value: UInt32) -> String {
        let digits = String(value, radix: 16, uppercase: true)
        return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }
}
