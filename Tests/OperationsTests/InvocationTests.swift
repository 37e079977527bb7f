import Delivery
import JSONSchema
import Testing

@testable import Operations

@Suite struct InvocationTests {
    @Test func commandsWithTheirOptions() throws {
        #expect(try parse("worker --config a.yaml") == .worker(configPath: "a.yaml"))
        #expect(try parse("worker --config=a=b.yaml") == .worker(configPath: "a=b.yaml"))
        #expect(
            try parse("topology apply --config a.yaml --former q --former r=k=l")
                == .topologyApply(
                    Invocation.TopologyApplyOptions(
                        broker: Invocation.Broker(configPath: "a.yaml"),
                        former: [.init(name: "q"), .init(name: "r", routingKey: "k=l")])))
        #expect(
            try parse("topology check --json --prefix p")
                == .topologyCheck(Invocation.Broker(prefix: "p"), asJSON: true))
        #expect(
            try parse("doctor --json --config a")
                == .doctor(Invocation.DoctorOptions(configPath: "a", isJSON: true)))
        #expect(try parse("config check a b") == .configCheck(paths: ["a", "b"]))
        #expect(
            try parse("validate --resource u=a=b --lines --resource v=c --schema s --draft draft-07 -")
                == .validate(
                    Invocation.ValidateOptions(
                        schemaPath: "s", resources: [.init(uri: "u", path: "a=b"), .init(uri: "v", path: "c")],
                        draft: .draft07, isLines: true, files: ["-"])))
        #expect(try parse("topology print") == .topologyPrint(Invocation.TopologyPrintOptions()))
        #expect(
            try parse("topology print --json --config a")
                == .topologyPrint(
                    Invocation.TopologyPrintOptions(
                        broker: Invocation.Broker(configPath: "a"), format: .definitions)))
        #expect(
            try parse("topology print --format kubernetes --broker 4.3.1 --cluster c")
                == .topologyPrint(
                    Invocation.TopologyPrintOptions(
                        format: .kubernetes, version: BrokerVersion(4, 3), cluster: "c")))
        #expect(
            try parse("publish --wait --new-id a")
                == .publish(Invocation.PublishOptions(files: ["a"], hasNewID: true, waits: true)))
        #expect(try parse("publish a.json") == .publish(Invocation.PublishOptions(files: ["a.json"])))
        #expect(
            try parse("publish --url amqp://b --message-id x --prefix p -")
                == .publish(
                    Invocation.PublishOptions(
                        broker: Invocation.Broker(url: "amqp://b", prefix: "p"), files: ["-"], messageID: "x")))
        #expect(
            try parse("publish --queue q a.json")
                == .publish(Invocation.PublishOptions(files: ["a.json"], queue: "q")))
        #expect(
            try parse("publish --timeout 5 --json -- --odd b.json")
                == .publish(Invocation.PublishOptions(files: ["--odd", "b.json"], isJSON: true, timeoutSeconds: 5)))
        #expect(
            try parse("watch --count 7 --json --config c --timeout 60 --ready-file r")
                == .watch(
                    Invocation.WatchOptions(
                        broker: Invocation.Broker(configPath: "c"), isJSON: true, count: 7, timeoutSeconds: 60,
                        readyFile: "r")))
        #expect(
            try parse("watch --dead --app com.example.* --outcome expired --outcome=invalid --id X --json --reveal")
                == .watch(
                    Invocation.WatchOptions(
                        isJSON: true,
                        filter: WatchFilter(
                            isOfDeadLetters: true, app: AppPattern(text: "com.example.*"),
                            outcomes: ["expired", "invalid"],
                            id: "X"), revealsTokens: true)))
        #expect(try parse("schema dead-letter") == .schema(.deadLetter))
        #expect(try parse("completion zsh") == .completion(.zsh))
        #expect(try parse("man") == .manual(command: nil))
        #expect(try parse("man topology apply") == .manual(command: "topology apply"))
        #expect(try parse("config example") == .configExample)
        #expect(try parse("--version") == .version)
        #expect(try parse("worker --version") == .version)
    }

    @Test(arguments: [
        ("", "no command is given"),
        ("wrker", "unknown command 'wrker'; did you mean 'worker'?"),
        ("something", "unknown command 'something'"),
        ("--confg", "unknown option --confg"),
        ("--versoin", "unknown option --versoin; did you mean --version?"),
        ("worker", "option --config FILE is missing"),
        ("worker --config", "option --config FILE needs a value"),
        ("worker --config=", "option --config FILE needs a value"),
        ("worker --confg a", "unknown option --confg; did you mean --config?"),
        ("worker --config a --config b", "option --config is given twice"),
        ("worker --config a b", "unexpected argument 'b'"),
        ("worker -c a", "unknown option -c"),
        ("topology", "'topology' is followed by one of: apply, check, print"),
        ("topology --json", "'topology' is followed by one of: apply, check, print"),
        ("status --live --watch", "option --watch does not go with --live"),
        ("status --live --interval 5", "option --interval does not go with --live"),
        ("status --live --json", "option --json does not go with --live"),
        ("topology aply", "unknown command 'topology aply'; did you mean 'topology apply'?"),
        ("topology delete", "unknown command 'topology delete'; 'topology' is followed by one of: apply, check, print"),
        (
            "topology print --format xml",
            "option --format takes one of table, definitions, rabbitmqctl, kubernetes, not 'xml'"
        ),
        ("topology print --json --format table", "option --json is --format definitions"),
        (
            "topology print --broker four",
            "option --broker takes a version such as 3.10, 3.13, 4.0 or 4.3, not 'four'"
        ),
        ("doctor", "option --config FILE is missing"),
        ("publish", "FILE… is missing"),
        ("publish --json=1 a", "option --json takes no value"),
        ("publish --config --json a", "option --config FILE needs a value"),
        ("publish --config c --url u a", "option --url does not go with --config, which says it already"),
        ("publish --message-id x a b", "option --message-id goes with one file only"),
        ("publish --message-id x --new-id a", "options --message-id and --new-id exclude each other"),
        ("publish --timeout 0 a", "option --timeout takes a whole number from 1 to 86400, not '0'"),
        (
            "schema",
            "NAME is missing: notification, result, dead-letter, channel-command, channel-reply, config or asyncapi"
        ),
        (
            "schema resutl",
            "martlet schema takes notification, result, dead-letter, channel-command, channel-reply, config or asyncapi, not 'resutl'; "
                + "did you mean result?"
        ),
        ("schema result config", "unexpected argument 'config'"),
        (
            "watch --outcome reject",
            "option --outcome takes accepted, rejected, expired, invalid or unknown, not 'reject'; did you mean rejected?"
        ),
        ("watch --reveal", "option --reveal goes with --json"),
        ("man wach", "there is no command 'wach'; did you mean 'watch'?"),
        ("validate --draft 4 a", "option --draft takes 2020-12 or draft-07, not '4'"),
        ("watch --count -1", "option --count takes a whole number above 0, not '-1'"),
        (
            "watch --count 99999999999999999999",
            "option --count takes a whole number above 0, not '99999999999999999999'"
        ),
    ])
    func mistakesAreToldInOneLine(line: String, message: String) {
        #expect {
            try parse(line)
        } throws: { error in
            (error as? UsageError)?.message == message
        }
    }

    @Test func helpIsThereForEveryCommandAndWinsOverMistakes() throws {
        for command in Invocation.commands {
            let text = try help("\(command.name) --help --nonsense")
            #expect(text.contains("Usage: martlet \(command.name)"))
            let flat = text.split { $0 == " " || $0 == "\n" }.joined(separator: " ")
            for option in command.options { #expect(flat.contains(option.help), "\(option.name)") }
            for line in text.split(separator: "\n") { #expect(line.count <= HelpText.width, "\(line)") }
            #expect(try help("help \(command.name)") == text)
        }
        let overview = try help("--help")
        for line in overview.split(separator: "\n") { #expect(line.count <= HelpText.width, "\(line)") }
        let flat = overview.split { $0 == " " || $0 == "\n" }.joined(separator: " ")
        for command in Invocation.commands { #expect(flat.contains(command.summary)) }
        for code in ExitCode.allCases { #expect(overview.contains("  \(code.rawValue)")) }
        #expect(try help("help") == overview)
        let group = try help("topology -h")
        #expect(group.hasPrefix("Usage: martlet topology COMMAND") && group.contains("  apply  "))
        #expect(try help("help topology") == group && help("dead --help") == help("dead-letters --help"))
    }

    private func parse(_ line: String) throws(UsageError) -> Invocation {
        try Invocation.parse(line.split(separator: " ").map(String.init))
    }

    private func help(_ line: String) throws -> String {
        guard case .help(let text) = try parse(line) else {
            Issue.record("no help for: \(line)")
            return ""
        }
        return text
    }
}
