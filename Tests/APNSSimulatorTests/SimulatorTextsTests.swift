import Glibc
import TestKit
import Testing

@testable import APNSSimulator

/// `deploy/lib/simulator-texts`: what the package has of the command's options is all of them.
@Suite(.timeLimit(.minutes(10))) struct SimulatorTextsTests {
    private func text(_ kind: String) async throws -> String {
        let result = try await ChildProcess.run([
            Products.file("deploy/lib/simulator-texts"), kind, try Products.executable("apns-simulator"),
        ])
        #expect(result.exit.status == .exited(0) && result.errors == [], "\(result.errors)")
        return result.output.joined(separator: "\n") + "\n"
    }

    @Test func theManualPageHasEveryOption() async throws {
        let folder = try TemporaryDirectory("manual")
        let page = try folder.write("apns-simulator.1", try await text("man"))
        let result = try await ChildProcess.run(["env", "MANWIDTH=200", "man", "--warnings", "-l", page])
        #expect(result.exit.status == .exited(0) && result.errors == [], "\(result.errors)")
        for option in Option.all {
            let name = [option.name, option.placeholder].compactMap { $0 }.joined(separator: " ")
            #expect(result.output.contains { $0.trimmed.hasPrefix(name) }, "\(name)")
        }
    }

    /// What stands behind the command, the last word to be completed, and what of it bash offers.
    @Test(arguments: [
        ("--listen-p", ["--listen-production", "--listen-production-channels"]), ("--ga", ["--gate"]),
        ("--state st", ["state.yaml", "states"]), ("--state = state.", ["state.yaml"]),
        ("--write-demo st", ["states"]), ("--gate ", []), ("--help --vers", ["--version"]),
    ])
    func bash(_ line: String, _ offered: [String]) async throws {
        let folder = try TemporaryDirectory("completion")
        try folder.write("state.yaml", "")
        try #require(mkdir(folder.file("states"), 0o700) == 0)
        let script = try await text("bash")
        #expect(try await BashOffers.completing(line, of: "apns-simulator", by: script, in: folder) == Set(offered))
    }

    @Test func zshTakesItAndHasEveryOption() async throws {
        let folder = try TemporaryDirectory("completion")
        let script = try await text("zsh")
        let checked = try await ChildProcess.run(["zsh", "-n", try folder.write("_apns-simulator", script)])
        #expect(checked.exit.status == .exited(0) && checked.errors == [])
        for option in Option.all {
            #expect(script.contains("\(option.name)\(option.placeholder == nil ? "" : "=")["), "\(option.name)")
        }
    }
}

extension String {
    fileprivate var trimmed: Substring { drop { $0 == " " } }
}
