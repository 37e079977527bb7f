import Glibc
import TestKit
import Testing

@testable import CommandKit

/// Completion in real shells.
@Suite(.timeLimit(.minutes(10))) struct CompletionTests {
    /// The command line, whose last word is completed, and the completions that bash offers.
    @Test(arguments: [
        ("fleet l", ["launch", "log"]), ("fleet harbor ", ["list", "open"]), ("fleet harbor op", ["open"]),
        ("fleet --v", ["--version"]), ("fleet help lau", ["launch"]), ("fleet e", []),
        ("fleet harbor open --", ["--help"]), ("fleet harbor list ", ["--map", "--help"]),
        ("fleet launch --map ma", ["map.yaml", "map two.yaml", "maps"]),
        ("fleet launch --map = map.", ["map.yaml"]), ("fleet launch --crew x", []),
        ("fleet log map.", ["map.yaml"]), ("fleet launch --signal ", ["red", "green"]),
        ("fleet launch --signal = re", ["red"]), ("fleet harbor open no", ["north"]), ("fleet man har", ["harbor"]),
        ("sea-lamp --pl", ["--place", "--place-of-the-second-lamp"]), ("sea-lamp --folder ma", ["maps"]),
        ("sea-lamp --chart map.", ["map.yaml"]), ("sea-lamp --mode ", ["steady", "flashing"]),
        ("sea-lamp --mode steady --vers", ["--version"]), ("sea-lamp --completion z", ["zsh"]),
        ("sea-lamp --place x", []),
    ])
    func bash(_ line: String, _ offered: [String]) async throws {
        let folder = try TemporaryDirectory("completion")
        try folder.write("map.yaml", "")
        try folder.write("map two.yaml", "")
        try #require(mkdir(folder.file("maps"), 0o700) == 0)
        let words = line.split(separator: " ", maxSplits: 1).map(String.init)
        let program = words[0] == "fleet" ? Program.fleet : .seaLamp
        let script = CompletionShell.bash.script(for: program)
        #expect(try await BashOffers.completing(words[1], of: words[0], by: script, in: folder) == Set(offered))
    }

    // A program with several commands completes document options as the first word.
    @Test(arguments: [("--ma", ["--manual"]), ("--completion ", ["bash", "zsh"]), ("lau", ["launch"])])
    func bashCompletesDocumentOptions(_ line: String, _ offered: [String]) async throws {
        let folder = try TemporaryDirectory("completion")
        var program = Program.fleet
        program.hasDocumentOptions = true
        let script = CompletionShell.bash.script(for: program)
        #expect(try await BashOffers.completing(line, of: "fleet", by: script, in: folder) == Set(offered))
    }

    /// The typed line, and the line to which zsh completes it, on a pseudo-terminal (zpty).
    @Test(arguments: [
        ("fleet lau", "fleet launch"), ("fleet harbor op", "fleet harbor open"),
        ("fleet harbor list --m", "fleet harbor list --map="),
        ("fleet launch --signal gr", "fleet launch --signal green"),
        ("fleet harbor open nor", "fleet harbor open north"), ("fleet launch --map=ma", "fleet launch --map=map.yaml"),
        ("fleet log ma", "fleet log map.yaml"), ("sea-lamp --fol", "sea-lamp --folder="),
        ("sea-lamp --mode fl", "sea-lamp --mode flashing"), ("sea-lamp --chart ma", "sea-lamp --chart map.yaml"),
        ("sea-lamp --completion z", "sea-lamp --completion zsh"),
    ])
    func zsh(_ line: String, _ completed: String) async throws {
        let folder = try TemporaryDirectory("completion")
        try folder.write("map.yaml", "")
        for program in [Program.fleet, .seaLamp] {
            let script = try folder.write("_\(program.name)", CompletionShell.zsh.script(for: program))
            let checked = try await ChildProcess.run(["zsh", "-n", script])
            #expect(checked.exit.status == .exited(0) && checked.errors == [])
        }
        let result = try await ChildProcess.run([
            "zsh", "-f", "-c",
            #"""
            cd $1
            zmodload zsh/zpty
            zpty shell zsh -f -i
            zpty -w shell "PS1= RPS1= fpath=($1 \$fpath); autoload -Uz compinit; compinit -u -d $1/dump"
            zpty -w shell "complete-line() { zle complete-word; print -r -- \"<\$BUFFER>\" > $1/found; exit }"
            zpty -w shell "zle -N complete-line; bindkey '^T' complete-line"
            zpty -w shell "echo begun > $1/begun"
            while [[ ! -s $1/begun ]]; do zpty -r -t shell line || sleep 0.05; done
            zpty -w -n shell "$2"$'\x14'
            while [[ ! -s $1/found ]]; do zpty -r -t shell line || sleep 0.05; done
            cat $1/found
            """#, "zsh", folder.path, line,
        ])
        #expect(result.output.joined().hasPrefix("<\(completed)"), "\(result)")
    }
}
