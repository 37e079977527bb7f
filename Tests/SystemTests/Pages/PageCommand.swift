import TestKit

/// A command of an operators' page, with its documented output.
struct PageCommand {
    /// The command; empty for a block without a command.
    var text = ""
    var output: [String] = []

    /// Returns the commands of each code block in a section, except blocks with a language.
    ///
    /// - Parameters:
    ///   - page: The name of an operators' page.
    ///   - section: The heading of the section.
    static func blocks(of page: String, in section: String) throws -> [[PageCommand]] {
        let path = Products.file("Sources/Documentation/Operators/\(page).md")
        var blocks: [[PageCommand]] = []
        var block: [PageCommand] = []
        var (heading, fence) = ("", nil as String?)
        for line in try Files.lines(of: path) {
            let text = String(line.drop { $0 == " " })
            if fence == nil, line.hasPrefix("## ") {
                heading = String(line.dropFirst(3))
            } else if text.hasPrefix("```") {
                if !block.isEmpty { blocks.append(block) }
                block = []
                fence = fence == nil ? text : nil
            } else if fence == "```", heading == section {
                if text.hasPrefix("$ ") || text.hasPrefix("# ") {
                    block.append(PageCommand(text: String(text.dropFirst(2))))
                } else {
                    if block.isEmpty { block.append(PageCommand()) }
                    block[block.count - 1].output.append(text)
                }
            }
        }
        return blocks
    }

    /// Runs the command in a folder with the configuration `martlet.yaml`. Returns the lines of both output streams as
    /// a terminal shows them. Omits the lines about a slow broker. Throws unless the command exits with `status`.
    func run(in directory: TemporaryDirectory, status: Int32 = 0) async throws -> [String] {
        let folder = try Products.executable("martlet").split(separator: "/").dropLast().joined(separator: "/")
        let command = text.replacing(/\/etc\/martlet\/\w+\.yaml/, with: "martlet.yaml")
        let script = """
            cd '\(directory.path)'
            PATH="/\(folder):$PATH"
            export MARTLET_CONFIG=martlet.yaml
            sudo() { shift 2; "$@"; }
            status() { martlet status --socket worker.sock "$@"; }
            { \(command)
            } 2>&1
            """
        let (exit, output, _) = try await ChildProcess.run(["bash", "-c", script])
        guard exit.status == .exited(status) else { throw ProcessError("\(text): \(output)") }
        return output.withoutBrokerNotices
    }

    /// Returns whether an output has the shape of the documented output. A line `…` of the page matches any number of
    /// lines.
    func matches(_ printed: [String]) -> Bool {
        var rest = Self.shape(printed)[...]
        var mayOmit = false
        for line in Self.shape(output) {
            if line == "…" {
                mayOmit = true
            } else if let index = mayOmit ? rest.firstIndex(of: line) : rest.first == line ? rest.startIndex : nil {
                rest = rest[(index + 1)...]
                mayOmit = false
            } else {
                return false
            }
        }
        return mayOmit || rest.isEmpty
    }

    /// Returns the nonempty lines of an output. Values that differ between two runs are replaced, such as IDs, ages,
    /// numbers, hosts, files, and the prefix of the topology.
    static func shape(_ output: [String]) -> [String] {
        output.filter { !$0.isEmpty }.map { line in
            line.replacing(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/, with: "ID")
                .replacing(/(api\.push\.apple\.com|127\.0\.0\.1)(:\d+)?/, with: "HOST")
                .replacing(/\S+\.(p8|yaml)/, with: "FILE").replacing(/team \w+/, with: "team TEAM")
                .replacing(/did you mean \S+\?/, with: "did you mean NAME?")
                .replacing(/^\S+\/\d+\/\d\.\d\.\d/, with: "WORKER")
                .replacing(/\b(push|incident\w+)\./, with: "PREFIX.")
                .replacing(/(\d+m )?\d+(\.\d+)? ?(ms|s|min|m)\b| -(?= |$)/, with: " AGE")
                .replacing(/\d+/, with: "N").replacing(/\ +/, with: " ").replacing(/\ $/, with: "")
        }
    }
}
