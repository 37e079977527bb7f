import CommandKit
import TestKit
import Testing

@testable import MartletCLI

/// The completion scripts of `martlet`. CommandKitTests covers the rules of all programs.
@Suite(.timeLimit(.minutes(10))) struct CompletionTests {
    /// The words after `martlet`, the last of which is completed, and the completions that bash offers.
    @Test(arguments: [
        ("w", ["worker", "watch", "waits"]), ("config ", ["check", "example"]), ("topology ap", ["apply"]),
        ("worker --config mart", ["martlet.yaml"]),
        ("watch --outcome ", ["accepted", "rejected", "expired", "invalid", "unknown"]),
        ("validate --draft dr", ["draft-07"]), ("schema de", ["dead-letter"]), ("completion ", ["bash", "zsh"]),
        ("man wat", ["watch"]),
    ])
    func bash(_ line: String, _ offered: [String]) async throws {
        let folder = try TemporaryDirectory("completion")
        try folder.write("martlet.yaml", "")
        let script = CompletionShell.bash.script(for: .martlet)
        #expect(try await BashOffers.completing(line, of: "martlet", by: script, in: folder) == Set(offered))
    }

    @Test(arguments: CompletionShell.allCases) func theCommandPrintsIt(_ shell: CompletionShell) async throws {
        let result = try await ChildProcess.run([Products.executable("martlet"), "completion", shell.rawValue])
        let script = result.output.joined(separator: "\n") + "\n"
        #expect(script == shell.script(for: .martlet))
        let folder = try TemporaryDirectory("completion")
        let checked = try await ChildProcess.run([shell.rawValue, "-n", try folder.write("script", script)])
        #expect(checked.exit.status == .exited(0) && checked.errors == [])
    }
}
