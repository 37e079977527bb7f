import Actions
import CommandKit
import Configuration
import Console
import Crypto
import Delivery
import Glibc
import TestKit
import Testing

@testable import ControlProtocol
@testable import MartletCLI

/// The commands of the console, and the commands that the console shows.
@Suite struct ConsoleCommandTests {
    /// Returns the words of a command line, as a shell splits them.
    private func words(_ line: String) async throws -> [String] {
        let shell = try await ChildProcess.run(["/bin/sh", "-c", "martlet() { printf '%s\\n' \"$@\"; }; \(line)"])
        #expect(shell.exit.status == .exited(0))
        return shell.output
    }

    private static let scopes: [PauseScope] = [
        .everything, .topic("com.example.shop"), .key("ABC123DEFG"), .certificate("it's $HOME `x`"),
    ]

    /// The command of an action, pasted into a shell, plans the same action.
    @Test(arguments: scopes, [nil, 1, 90, 7200, 86_400, 86_401, 30 * 86_400])
    func `A shown pause is the same action`(scope: PauseScope, seconds: Int?) async throws {
        let action = PauseAction(scope, .pause(why: "wrong \"campaign\"; rm -rf '/' $(x) é", seconds: seconds))
        let parsed = try Program.martlet.command(try await words(action.commandLine), as: PauseCommand.self)
        #expect(parsed.change == .fleet(FleetPauseChange(action: action)))
    }

    @Test(arguments: scopes) func `A shown resumption is the same action`(scope: PauseScope) async throws {
        let action = PauseAction(scope, .resume)
        let parsed = try Program.martlet.command(try await words(action.commandLine), as: ResumeCommand.self)
        #expect(parsed.change == .fleet(FleetPauseChange(action: action)))
    }

    /// The command of a probe, completed as the console shows it, probes the same.
    @Test(arguments: [
        ProbeScope.part(.everything), .part(.topic("com.example.shop")), .part(.certificate("it's $HOME `x`")),
        .endpoint("api.push.apple.com:443"), .store,
    ])
    func `A shown probe is the same action`(scope: ProbeScope) async throws {
        let probe = FleetProbe(scope, why: "--repaired \"key\"; rm -rf '/' $(x) é")
        let line = CommandAdvice(configPath: "it's.yaml").completed(OperatorAction.probe(probe).commandLine)
        let parsed = try Program.martlet.command(try await words(line), as: ProbeCommand.self)
        #expect(parsed.probe == probe && parsed.broker.configPath == "it's.yaml")
    }

    @Test(arguments: [nil, "push.other"])
    func `A shown test publishes the same request`(queue: String?) async throws {
        let request = TestRequest(
            app: "com.example.shop", deviceToken: "00fc13ad", title: "It's \"$5\" \\n é", queue: queue)
        let run = try await ChildProcess.run([
            "/bin/sh", "-c", "martlet() { printf '%s\\n' \"$@\"; cat; }; \(request.commandLine)",
        ])
        let words = run.output.dropLast()
        #expect(run.output.last == String(decoding: request.json, as: UTF8.self))
        let parsed = try Program.martlet.command(Array(words), as: PublishCommand.self)
        #expect(parsed.options == PublishCommand.Options(files: ["-"], queue: queue))
    }

    @Test(arguments: ["1s", "90s", "2m", "2h", "7d", "30d"]) func `Durations are read and written`(text: String) throws
    {
        let seconds = try #require(PauseDuration.seconds(text))
        #expect(PauseDuration.seconds(DurationText.text(seconds)) == seconds)
    }

    @Test(arguments: ["", "s", "0s", "31d", "-1h", "1.5h", "9223372036854775807d", "2 h"])
    func `Invalid durations are refused`(text: String) { #expect(PauseDuration.seconds(text) == nil) }

    // MARK: Commands

    @Test func `Subcommands are found before the command itself`() throws {
        let server: ConsoleCommand = try Program.martlet.command(["console", "--config", "c"])
        #expect(server.configPath == "c")
        let open: ConsoleOpenCommand = try Program.martlet.command(["console", "open", "--role", "admin"])
        #expect(open.role == .admin && open.socketPath == nil)
        let token: ConsoleTokenCommand = try Program.martlet.command(
            ["console", "token", "create", "--file", "f", "--name", "alice", "--expires", "90d"])
        #expect(token.role == .view && token.expiresSeconds == 90 * 86_400)
        for words in [["--name", ""], ["--name", "a", "--expires", "1y"], ["--name", "a", "--role", "root"], []] {
            #expect(throws: UsageError.self) {
                _ = try Program.martlet.command(["console", "token", "create"] + words, as: ConsoleTokenCommand.self)
            }
        }
    }

    @Test func `A created token is in the file as its hash`() throws {
        let folder = try TemporaryDirectory("tokens")
        let path = folder.file("tokens.json")
        for name in ["alice", "bob"] {
            let command: ConsoleTokenCommand = try Program.martlet.command(
                ["console", "token", "create", "--file", path, "--name", name, "--role", "operate"])
            #expect(command.run() == .success)
        }
        let file = try TokenFile(json: Array(try folder.read("tokens.json").utf8))
        #expect(file.tokens.map(\.name) == ["alice", "bob"] && Set(file.tokens.map(\.hash)).count == 2)
        var status = stat()
        #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o644)
    }

    @Test func `Records of the audit are one printable line`() throws {
        let record = AuditRecord(
            id: UUIDValue(high: 0, low: 1), at: 1_764_300_000_000, by: "alice", verb: "pause", phase: .after,
            why: "a\u{1B}[31m", command: "martlet pause --fleet", result: "done", count: 1, console: "h/1")
        let line = AuditCommand.line(record)
        #expect(line.hasPrefix("2025-11-28T03:20:00Z alice pause after: why: ") && !line.contains("\u{1B}"))
        #expect(line.hasSuffix("; command: martlet pause --fleet; done"))
    }
}
