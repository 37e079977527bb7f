import TestKit
import Testing

/// What the programs print for help, manual, completion and wrong usage. A file of `Golden` has each command line behind
/// `$ `, its standard output, its standard error behind `! `, and its exit status.
@Suite(.timeLimit(.minutes(10))) struct ProgramOutputTests {
    private static let files = [
        "martlet-help", "martlet-man", "martlet-completion", "martlet-mistakes", "simulator", "bench",
    ]

    @Test(arguments: files)
    func outputIsAsStored(_ name: String) async throws {
        let path = Products.file("Tests/CommandKitTests/Golden/\(name).txt")
        let stored = String(decoding: try Files.bytes(of: path), as: UTF8.self)
        let commands = stored.split(separator: "\n").filter { $0.hasPrefix("$ ") }
        #expect(!commands.isEmpty)
        var printed = ""
        for command in commands { printed += try await output(of: String(command.dropFirst(2))) }
        let lines = zip(printed.split(separator: "\n"), stored.split(separator: "\n"))
        if let different = lines.first(where: { $0 != $1 }) {
            Issue.record("stored: \(different.1)\nprinted: \(different.0)")
        }
        #expect(printed.utf8.count == stored.utf8.count)
    }

    private func output(of line: String) async throws -> String {
        let words = line.split(separator: " ").map(String.init)
        let result = try await ChildProcess.run(
            [try Products.executable(words[0])] + words.dropFirst(),
            environment: ["PATH": "/usr/bin:/bin", "MARTLET_CONFIG": ""])
        guard case .exited(let status) = result.exit.status else {
            throw ProcessError("\(line): \(result.exit.status)")
        }
        let printed = ["$ \(line)"] + result.output + result.errors.map { "! \($0)" } + ["[exit \(status)]"]
        return printed.map { $0 + "\n" }.joined()
    }
}
