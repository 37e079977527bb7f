import APNS
import APNSProtocol
import Actions
import BrokerTopology
import CommandKit
import Delivery
import JSONSchema
import Testing

@testable import Configuration
@testable import ControlProtocol
@testable import MartletCLI

/// The command lines of `martlet`, as its parser reads them.
@Suite struct CommandLineTests {
    @Test func commandsWithTheirOptions() throws {
        #expect(try parse("worker --config a.yaml", as: WorkerCommand.self).configPath == "a.yaml")
        #expect(try parse("worker --config=a=b.yaml", as: WorkerCommand.self).configPath == "a=b.yaml")
        #expect(
            try parse("topology apply --config a.yaml --former q --former r=k=l", as: TopologyApplyCommand.self).options
                == TopologyApplyCommand.Options(
                    broker: BrokerOptions(configPath: "a.yaml"),
                    former: [.init(name: "q"), .init(name: "r", routingKey: "k=l")]))
        #expect(
            try parse("topology check --json --prefix p", as: TopologyCheckCommand.self).options
                == TopologyCheckCommand.Options(broker: BrokerOptions(prefix: "p"), isJSON: true))
        #expect(
            try parse("doctor --json --config a", as: DoctorCommand.self).options
                == DoctorCommand.Options(configPath: "a", isJSON: true))
        #expect(try parse("config check a b", as: ConfigCheckCommand.self).paths == ["a", "b"])
        #expect(
            try parse(
                "validate --resource u=a=b --lines --resource v=c --schema s --draft draft-07 -",
                as: ValidateCommand.self
            ).options
                == ValidateCommand.Options(
                    schemaPath: "s", resources: [.init(uri: "u", path: "a=b"), .init(uri: "v", path: "c")],
                    draft: .draft07, isLines: true, files: ["-"]))
        #expect(try parse("topology print", as: TopologyPrintCommand.self).options == TopologyPrintCommand.Options())
        #expect(
            try parse("topology print --json --config a", as: TopologyPrintCommand.self).options
                == TopologyPrintCommand.Options(broker: BrokerOptions(configPath: "a"), format: .definitions))
        #expect(
            try parse("topology print --format kubernetes --broker 4.3.1 --cluster c", as: TopologyPrintCommand.self)
                .options
                == TopologyPrintCommand.Options(format: .kubernetes, version: BrokerVersion(4, 3), cluster: "c"))
        #expect(
            try parse("publish --wait --new-id a", as: PublishCommand.self).options
                == PublishCommand.Options(files: ["a"], hasNewID: true, waits: true))
        #expect(
            try parse("publish a.json", as: PublishCommand.self).options == PublishCommand.Options(files: ["a.json"]))
        #expect(
            try parse("publish --url amqp://b --message-id x --prefix p -", as: PublishCommand.self).options
                == PublishCommand.Options(
                    broker: BrokerOptions(url: "amqp://b", prefix: "p"), files: ["-"], messageID: "x"))
        #expect(
            try parse("publish --queue q a.json", as: PublishCommand.self).options
                == PublishCommand.Options(files: ["a.json"], queue: "q"))
        #expect(
            try parse("publish --user ann --scope s a.json", as: PublishCommand.self).options
                == PublishCommand.Options(files: ["a.json"], users: .user("ann"), scope: "s"))
        #expect(
            try parse("publish --timeout 5 --json -- --odd b.json", as: PublishCommand.self).options
                == PublishCommand.Options(files: ["--odd", "b.json"], isJSON: true, timeoutSeconds: 5))
        #expect(
            try parse("push --config c --new-id a", as: PushCommand.self).options
                == PushCommand.Options(configPath: "c", files: ["a"], hasNewID: true))
        #expect(
            try parse("watch --count 7 --json --config c --timeout 60 --ready-file r", as: WatchCommand.self).options
                == WatchCommand.Options(
                    broker: BrokerOptions(configPath: "c"), isJSON: true, count: 7, timeoutSeconds: 60,
                    readyFile: "r"))
        #expect(
            try parse(
                "watch --dead --app com.example.* --outcome expired --outcome=invalid --id X --json --reveal",
                as: WatchCommand.self
            )
            .options
                == WatchCommand.Options(
                    isJSON: true,
                    filter: WatchFilter(
                        isOfDeadLetters: true, app: AppPattern(text: "com.example.*"),
                        outcomes: ["expired", "invalid"], id: "X"), revealsTokens: true))
        #expect(
            try parse("status --url u --watch --interval 5", as: StatusCommand.self).options
                == StatusCommand.Options(worker: .url("u"), watches: true, intervalSeconds: 5))
        #expect(
            try parse("pause --socket s --key k --reason r --yes", as: PauseCommand.self).change
                == .workers(
                    PauseChange(isPaused: true, scope: .key("k"), worker: .socket("s"), reason: "r", saysYes: true)))
        #expect(
            try parse("pause --fleet --url u --topic t --reason r --until 2h", as: PauseCommand.self).change
                == .fleet(
                    FleetPauseChange(
                        broker: BrokerOptions(url: "u"),
                        action: PauseAction(.topic("t"), .pause(why: "r", seconds: 7200)))))
        #expect(
            try parse("resume --topic t", as: ResumeCommand.self).change
                == .workers(PauseChange(isPaused: false, scope: .topic("t"))))
        #expect(
            try parse("resume --fleet", as: ResumeCommand.self).change
                == .fleet(FleetPauseChange(action: PauseAction(.everything, .resume))))
        #expect(
            try parse("status --fleet --json --prefix p", as: StatusCommand.self).options
                == StatusCommand.Options(fleet: FleetStatus(broker: BrokerOptions(prefix: "p"), isJSON: true)))
        #expect(try parse("schema dead-letter", as: SchemaCommand.self).schema == .deadLetter)
        #expect(try parse("completion zsh", as: CompletionCommand.self).shell == .zsh)
        #expect(try parse("man", as: ManualCommand.self).command == "")
        #expect(try parse("man topology apply", as: ManualCommand.self).command == "topology apply")
        #expect(throws: Never.self) { try parse("config example", as: ConfigExampleCommand.self) }
        #expect(try Program.martlet.text(["--version"]) == "martlet \(MartletVersion.current)\n")
    }

    @Test func channelsWithTheirOptions() throws {
        let options = ChannelCommandOptions(work: .list, configPath: "c", app: "a")
        let words = "--config c --app a"
        #expect(try parse("channels list \(words)", as: ChannelsListCommand.self).options == options)
        var other = options
        (other.work, other.environment, other.isJSON) = (.create(.newest), .sandbox, true)
        let created = try parse(
            "channels create \(words) --storage newest --environment sandbox --json", as: ChannelsCreateCommand.self)
        #expect(created.options == other)
        other = options
        other.work = .read(["x", "y"])
        #expect(try parse("channels read \(words) x y", as: ChannelsReadCommand.self).options == other)
        other.work = .delete(["x"])
        #expect(try parse("channels delete \(words) x", as: ChannelsDeleteCommand.self).options == other)
    }

    @Test(arguments: [
        ("wrker", "unknown command 'wrker'; did you mean 'worker'?"),
        ("worker", "option --config FILE is missing"),
        ("worker --config", "option --config FILE needs a value"),
        ("worker --config a b", "unexpected argument 'b'"),
        ("topology", "'topology' requires one of: apply, check, print"),
        ("status --live --watch", "options --watch and --live are mutually exclusive"),
        ("status --live --interval 5", "options --interval and --live are mutually exclusive"),
        ("status --live --json", "options --json and --live are mutually exclusive"),
        ("status --fleet --watch", "options --fleet and --watch are mutually exclusive"),
        ("status --prefix p", "option --prefix requires --fleet"),
        ("pause --fleet", "option --fleet requires --reason"),
        ("pause --fleet --reason r --socket s", "options --fleet and --socket are mutually exclusive"),
        ("pause --until 2h", "option --until requires --fleet"),
        ("resume --config c", "option --config requires --fleet"),
        (
            "pause --fleet --reason r --until 31d",
            "option --until: expected a duration from 1s to 30d, such as 30m, 2h or 7d, got '31d'"
        ),
        ("topology aply", "unknown command 'topology aply'; did you mean 'topology apply'?"),
        ("topology delete", "unknown command 'topology delete'; 'topology' requires one of: apply, check, print"),
        (
            "topology print --format xml",
            "option --format: expected table, definitions, rabbitmqctl or kubernetes, got 'xml'"
        ),
        ("topology print --json --format table", "options --json and --format are mutually exclusive"),
        (
            "topology print --broker four",
            "option --broker: expected a version such as 3.10, 3.13, 4.0 or 4.3, got 'four'"
        ),
        ("doctor", "option --config FILE is missing"),
        ("publish", "FILE… is missing"),
        ("publish --config c --url u a", "options --url and --config are mutually exclusive"),
        ("publish --message-id x a b", "option --message-id requires a single file"),
        ("publish --message-id x --new-id a", "options --message-id and --new-id are mutually exclusive"),
        ("publish --scope s a", "option --scope requires --user or --user-file"),
        ("publish --user-file - -", "options --user-file - and FILE - are mutually exclusive"),
        ("publish --timeout 0 a", "option --timeout: expected a whole number from 1 to 86400, got '0'"),
        (
            "schema",
            "NAME is missing: notification, result, fanout, dead-letter, channel-command, channel-reply, "
                + "registration, registration-event, registration-reply, config or asyncapi"
        ),
        (
            "schema resutl",
            "martlet schema: expected notification, result, fanout, dead-letter, channel-command, channel-reply, "
                + "registration, registration-event, registration-reply, config or asyncapi, got 'resutl'; "
                + "did you mean result?"
        ),
        (
            "watch --outcome reject",
            "option --outcome: expected accepted, rejected, expired, invalid or unknown, got 'reject'; did you mean rejected?"
        ),
        ("watch --reveal", "option --reveal requires --json"),
        ("man wach", "unknown command 'wach'; did you mean 'watch'?"),
        ("validate --draft 4 a", "option --draft: expected 2020-12 or draft-07, got '4'"),
        ("watch --count -1", "option --count: expected a whole number above 0, got '-1'"),
        (
            "watch --count 99999999999999999999",
            "option --count: expected a whole number above 0, got '99999999999999999999'"
        ),
    ])
    func mistakesAreReportedInOneLine(line: String, message: String) {
        #expect {
            _ = try Program.martlet.request(line.split(separator: " ").map(String.init))
        } throws: { error in
            (error as? UsageError)?.message == message
        }
    }

    @Test func everyCommandHasHelpEvenWithMistakes() throws {
        for command in Program.martlet.shownCommands {
            let text = try help("\(command.name) --help --nonsense")
            #expect(text.contains("Usage: martlet \(command.name)"))
            let flat = text.split { $0 == " " || $0 == "\n" }.joined(separator: " ")
            for option in command.options { #expect(flat.contains(option.help), "\(option.name)") }
            for line in text.split(separator: "\n") { #expect(line.count <= 80, "\(line)") }
            #expect(try help("help \(command.name)") == text)
        }
        let overview = try help("--help")
        for line in overview.split(separator: "\n") { #expect(line.count <= 80, "\(line)") }
        let flat = overview.split { $0 == " " || $0 == "\n" }.joined(separator: " ")
        for command in Program.martlet.shownCommands { #expect(flat.contains(command.summary)) }
        for (code, _) in ExitCode.meanings { #expect(overview.contains("  \(code.rawValue)")) }
        #expect(try help("help dead") == help("dead-letters --help"))
    }

    private func parse<Expected: Command>(_ line: String, as type: Expected.Type = Expected.self) throws -> Expected {
        try Program.martlet.command(line.split(separator: " ").map(String.init))
    }

    private func help(_ line: String) throws -> String {
        try Program.martlet.text(line.split(separator: " ").map(String.init))
    }
}
