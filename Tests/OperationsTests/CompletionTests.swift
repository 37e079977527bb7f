import Glibc
import TestKit
import Testing

@testable import Operations

/// Completion as a shell does it.
@Suite(.timeLimit(.minutes(10))) struct CompletionTests {
    /// The words behind `martlet`, the last of which is to be completed, and what of it bash offers.
    @Test(arguments: [
        ("w", ["worker", "watch", "waits"]), ("config ", ["check", "example"]), ("topology ap", ["apply"]),
        ("--v", ["--version"]), ("help pub", ["publish"]),
        ("schema --", ["--help"]), ("config example ", ["--help"]),
        ("worker --config mart", ["martlet.yaml", "martlet two.yaml"]),
        ("worker --config = martlet.", ["martlet.yaml"]),
        ("publish mar", ["martlet.yaml", "martlet two.yaml"]), ("publish --url x", []),
        ("watch --outcome ", ["accepted", "rejected", "expired", "invalid", "unknown"]),
        ("watch --outcome = re", ["rejected"]), ("validate --draft dr", ["draft-07"]),
        ("schema de", ["dead-letter"]), ("completion ", ["bash", "zsh"]), ("man wat", ["watch"]),
    ])
    func bash(_ line: String, _ offered: [String]) async throws {
        let folder = try TemporaryDirectory("completion")
        try folder.write("martlet.yaml", "")
        try folder.write("martlet two.yaml", "")
        let script = BashCompletion(commands: Invocation.commands).script
        #expect(try await BashOffers.completing(line, of: "martlet", by: script, in: folder) == Set(offered))
    }

    @Test func theCommandPrintsIt() async throws {
        let result = try await ChildProcess.run([Products.executable("martlet"), "completion", "bash"])
        #expect(result.output.joined(separator: "\n") + "\n" == CompletionShell.bash.script(for: Invocation.commands))
    }

    /// What zsh would complete of `martlet` and what follows: asked of a zsh on a terminal of its own (zpty).
    @Test(arguments: [
        ("wat", "watch"), ("topology app", "apply"), ("worker --conf", "--config="),
        ("watch --outcome rej", "rejected"),
        ("schema dead", "dead-letter"), ("worker --config=mart", "--config=martlet.yaml"),
        ("publish mar", "martlet.yaml"),
    ])
    func zsh(_ line: String, _ completed: String) async throws {
        let folder = try TemporaryDirectory("completion")
        try folder.write("martlet.yaml", "")
        try folder.write("_martlet", ZshCompletion(commands: Invocation.commands).script)
        let checked = try await ChildProcess.run(["zsh", "-n", folder.file("_martlet")])
        #expect(checked.exit.status == .exited(0) && checked.errors == [])
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
            zpty -w -n shell "martlet $2"$'\x14'
            while [[ ! -s $1/found ]]; do zpty -r -t shell line || sleep 0.05; done
            cat $1/found
            """#, "zsh", folder.path, line,
        ])
        let words = line.split(separator: " ").dropLast().joined(separator: " ")
        let whole = (words.isEmpty ? "martlet " : "martlet \(words) ") + completed
        #expect(result.output.joined().hasPrefix("<\(whole)"), "\(result)")
    }
}
