import TestKit
import Testing

@testable import CommandKit

/// The manual pages as `man` prints them.
@Suite(.timeLimit(.minutes(10))) struct ManualPageTests {
    @Test(arguments: [("fleet", ""), ("fleet", "launch"), ("fleet", "log"), ("sea-lamp", "")])
    func manPrintsNoWarning(_ name: String, _ command: String) async throws {
        let program = name == "fleet" ? Program.fleet : .seaLamp
        let folder = try TemporaryDirectory("manual")
        let file = try folder.write("page.1", program.manualPage(of: command))
        let result = try await ChildProcess.run(
            ["man", "-l", "--warnings=w", "-E", "UTF-8", file],
            environment: ["PATH": "/usr/bin:/bin", "MANWIDTH": "100", "LC_ALL": "C.UTF-8"])
        #expect(result.exit.status == .exited(0) && result.errors == [])
        let shown = result.output.joined(separator: " ").split(separator: " ").joined(separator: " ")
        let syntax = program.shownCommands.first { $0.name == command }
        for option in syntax?.options ?? [] where !option.isHidden {
            #expect(shown.contains("\(option.spelling) \(option.help)"), "\(option.name)")
        }
        #expect(!shown.contains("engine"))
    }

    @Test(arguments: [
        (".x", "\\&.x"), ("a-b", "a\\-b"), ("'x'", "\\(aqx\\(aq"), ("…", "\\[u2026]"), ("\\n", "\\en"), ("a.b", "a.b"),
    ])
    func roffCharactersAreEscaped(_ text: String, _ escaped: String) {
        #expect(Roff.escaped(text) == escaped)
    }
}
