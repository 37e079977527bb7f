import CommandKit
import Glibc
import TestKit
import Testing

@testable import APNSSimulator

/// Tests of the help, the manual page and the completion scripts, which must have all options of the command.
@Suite(.timeLimit(.minutes(10))) struct SimulatorDocumentsTests {
    private func text(_ arguments: String...) async throws -> String {
        let result = try await ChildProcess.run([try Products.executable("apns-simulator")] + arguments)
        #expect(result.exit.status == .exited(0) && result.errors == [], "\(result.errors)")
        return result.output.joined(separator: "\n") + "\n"
    }

    @Test func theHelpHasEveryOption() async throws {
        let help = try await text("--help")
        for option in SimulatorCommand.syntax.options {
            #expect(help.contains("  \(option.spelling)"), "\(option.name)")
        }
        for line in help.split(separator: "\n") { #expect(line.count <= 80, "\(line)") }
    }

    @Test func theManualPageHasEveryOption() async throws {
        let folder = try TemporaryDirectory("manual")
        let page = try folder.write("apns-simulator.1", try await text("--manual"))
        let result = try await ChildProcess.run(["env", "MANWIDTH=200", "man", "--warnings", "-l", page])
        #expect(result.exit.status == .exited(0) && result.errors == [], "\(result.errors)")
        for option in SimulatorCommand.syntax.options {
            #expect(result.output.contains { $0.trimmed.hasPrefix(option.spelling) }, "\(option.name)")
        }
    }

    /// Arguments whose last word is to be completed, and bash's suggestions.
    @Test(arguments: [
        ("--listen-p", ["--listen-production", "--listen-production-channels"]), ("--ga", ["--gate"]),
        ("--state st", ["state.yaml", "states"]), ("--state = state.", ["state.yaml"]),
        ("--write-demo st", ["states"]), ("--gate ", ["enforce", "announce", "off"]), ("--help --vers", ["--version"]),
    ])
    func bash(_ line: String, _ offered: [String]) async throws {
        let folder = try TemporaryDirectory("completion")
        try folder.write("state.yaml", "")
        try #require(mkdir(folder.file("states"), 0o700) == 0)
        let script = try await text("--completion", "bash")
        #expect(try await BashOffers.completing(line, of: "apns-simulator", by: script, in: folder) == Set(offered))
    }

    @Test func zshAcceptsTheScriptWithEveryOption() async throws {
        let folder = try TemporaryDirectory("completion")
        let script = try await text("--completion", "zsh")
        let checked = try await ChildProcess.run(["zsh", "-n", try folder.write("_apns-simulator", script)])
        #expect(checked.exit.status == .exited(0) && checked.errors == [])
        for option in SimulatorCommand.syntax.options {
            #expect(script.contains("\(option.flag)\(option.value == nil ? "" : "=")["), "\(option.name)")
        }
    }
}

extension String {
    fileprivate var trimmed: Substring { drop { $0 == " " } }
}
