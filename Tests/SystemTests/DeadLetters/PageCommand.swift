import TestKit

/// A command of the documentation page on dead letters, with its documented output.
struct PageCommand {
    let text: String
    let output: [String]

    /// Returns the commands of the page's overview.
    static func all() throws -> [PageCommand] {
        let page = try Files.bytes(of: Products.file("Sources/Documentation/Operators/DeadLetters.md"))
        let block = String(decoding: page, as: UTF8.self).split(separator: "\n```\n")[1]
        return ("\n" + block).split(separator: "\n$ ").map { piece in
            let lines = piece.split(separator: "\n").map(String.init)
            return PageCommand(text: lines[0], output: Array(lines.dropFirst()))
        }
    }

    /// Runs the command and returns the lines of both output streams, as a terminal shows them, without the lines about
    /// a slow broker.
    func run(in directory: TemporaryDirectory) async throws -> [String] {
        let folder = try Products.executable("martlet").split(separator: "/").dropLast().joined(separator: "/")
        let script = "cd '\(directory.path)' && PATH=\"/\(folder):$PATH\" && { \(text); } 2>&1"
        let (exit, output, _) = try await ChildProcess.run(["sh", "-c", script])
        guard exit.status == .exited(0) else { throw ProcessError("cannot run \(text): \(output)") }
        return output.withoutBrokerNotices
    }

    /// Returns output with IDs, ages and numbers replaced, so that two runs can be compared.
    static func shape(_ output: [String]) -> [String] {
        output.map { line in
            line.replacing(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/, with: "ID")
                .replacing(/\d+(\.\d+)? (ms|s|min)\b/, with: "AGE").replacing(/\d+/, with: "N")
                .replacing(/\ +/, with: " ")
        }
    }
}
