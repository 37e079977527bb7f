import TestKit
import Testing

@testable import CommandKit

/// The texts that are generated for two sample programs, compared with the files of `Golden`.
@Suite struct SampleTextTests {
    private static let texts: [(file: String, program: Program, arguments: [String])] = [
        ("fleet.txt", .fleet, ["--help"]), ("fleet-launch.txt", .fleet, ["launch", "--help"]),
        ("fleet-harbor.txt", .fleet, ["harbor", "--help"]),
        ("fleet-harbor-open.txt", .fleet, ["help", "harbor", "open"]),
        ("sea-lamp.txt", .seaLamp, ["--help"]), ("sea-lamp.1", .seaLamp, ["--manual"]),
        ("sea-lamp.bash", .seaLamp, ["--completion", "bash"]), ("_sea-lamp", .seaLamp, ["--completion", "zsh"]),
    ]

    private func expect(_ text: String, inFile name: String) throws {
        let path = Products.file("Tests/CommandKitTests/Golden/\(name)")
        let stored = String(decoding: try Files.bytes(of: path), as: UTF8.self)
        let lines = zip(text.split(separator: "\n"), stored.split(separator: "\n"))
        let different = lines.first { $0 != $1 }
        #expect(different?.0 == different?.1, "\(name)")
        #expect(text.utf8.count == stored.utf8.count, "\(name)")
    }

    @Test(arguments: texts.indices) func textIsAsStored(_ index: Int) throws {
        let (file, program, arguments) = Self.texts[index]
        guard case .text(let text) = try program.request(arguments) else { throw UsageError("unexpected command") }
        try expect(text, inFile: file)
    }

    @Test func documentsOfCommandsAreAsStored() throws {
        try expect(Program.fleet.manualPage(of: ""), inFile: "fleet.1")
        try expect(Program.fleet.manualPage(of: "launch"), inFile: "fleet-launch.1")
        try expect(CompletionShell.bash.script(for: .fleet), inFile: "fleet.bash")
        try expect(CompletionShell.zsh.script(for: .fleet), inFile: "_fleet")
    }

    @Test func noLineOfHelpExceedsTheMaximum() throws {
        for (file, program, arguments) in Self.texts where file.hasSuffix(".txt") {
            guard case .text(let text) = try program.request(arguments) else { throw UsageError("unexpected command") }
            for line in text.split(separator: "\n") { #expect(line.count <= HelpText.columnsMax, "\(line)") }
        }
    }
}
