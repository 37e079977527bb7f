import CommandKit
import TestKit
import Testing

@testable import MartletCLI

/// The pages of `martlet man`, as the program `man` formats them.
@Suite(.timeLimit(.minutes(10))) struct ManualPageTests {
    @Test(arguments: [""] + Program.martlet.shownCommands.map(\.name))
    func manPrintsNoWarning(_ command: String) async throws {
        let folder = try TemporaryDirectory("manual")
        let file = try folder.write("page.1", Program.martlet.manualPage(of: command))
        let result = try await ChildProcess.run(
            ["man", "-l", "--warnings=w", "-E", "UTF-8", file],
            environment: ["PATH": "/usr/bin:/bin", "MANWIDTH": "100", "LC_ALL": "C.UTF-8"])
        #expect(result.exit.status == .exited(0) && result.errors == [])
        let shown = result.output.joined(separator: " ").split(separator: " ").joined(separator: " ")
        guard let syntax = Program.martlet.shownCommands.first(where: { $0.name == command }) else {
            for command in Program.martlet.shownCommands { #expect(shown.contains(command.summary)) }
            return
        }
        #expect(shown.contains("martlet-\(syntax.path.joined(separator: "-")) - \(syntax.summary.dropLast())"))
        for option in syntax.options { #expect(shown.contains("\(option.spelling) "), "\(option.name)") }
        for text in [syntax.discussion] + syntax.options.map(\.help) {
            let flat = text.split { " \n".contains($0) }.joined(separator: " ")
            #expect(shown.contains(flat), "\(flat)")
        }
    }

    @Test func theCommandPrintsThem() async throws {
        let martlet = try Products.executable("martlet")
        let page = try await ChildProcess.run([martlet, "man", "topology", "apply"])
        #expect(page.output.joined(separator: "\n") + "\n" == Program.martlet.manualPage(of: "topology apply"))
        let unknown = try await ChildProcess.run([martlet, "man", "wach"])
        #expect(unknown.exit.status == .exited(2))
        #expect(
            unknown.errors == ["martlet: unknown command 'wach'; did you mean 'watch'? (see martlet man --help)"])
    }
}
