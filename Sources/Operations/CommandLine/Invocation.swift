import Delivery
import JSONSchema
import Text

/// What a command line asks for, fully parsed: everything that can be wrong with it has been found.
enum Invocation: Equatable, Sendable {
    /// The text to print.
    case help(String)
    case version
    case worker(configPath: String)
    case topologyApply(TopologyApplyOptions)
    case topologyCheck(Broker, asJSON: Bool)
    case topologyPrint(TopologyPrintOptions)
    case publish(PublishOptions)
    case push(PushCommand.Options)
    case channels(ChannelsCommand.Options)
    case watch(WatchOptions)
    case validate(ValidateOptions)
    case configCheck(paths: [String])
    case status(StatusCommand.Options)
    case pause(PauseCommand.Options)
    case deadLetters(DeadLetterOptions)
    case configExample
    case schema(PrintedSchema)
    case completion(CompletionShell)
    /// nil: of `martlet` itself.
    case manual(command: String?)
    case doctor(DoctorOptions)

    /// Where the broker is, for commands that work without a configuration file too.
    struct Broker: Equatable, Sendable {
        var configPath: String?
        /// Without a configuration: where to connect; may hold `${NAME}`.
        var url = "amqp://127.0.0.1:5672"
        /// Without a configuration: first part of all names at the broker.
        var prefix = "push"
    }

    struct PublishOptions: Equatable, Sendable {
        var broker = Broker()
        /// `-` is standard input.
        var files: [String]
        var messageID: String?
        /// Whether each file's own id gives way to a new one.
        var hasNewID = false
        /// nil: the exchange of requests.
        var queue: String?
        /// Whether the results are awaited.
        var waits = false
        var isJSON = false
        static let timeoutSecondsDefault = 30
        var timeoutSeconds = timeoutSecondsDefault
    }

    struct WatchOptions: Equatable, Sendable {
        var broker = Broker()
        var isJSON = false
        var filter = WatchFilter()
        /// Whether device tokens are shown whole.
        var revealsTokens = false
        /// End after so many; nil: go on.
        var count: Int?
        /// End after so long; nil: go on.
        var timeoutSeconds: Int?
        /// Created once everything published from now on will be seen.
        var readyFile: String?
    }

    struct ValidateOptions: Equatable, Sendable {
        /// nil: that of messages.
        var schemaPath: String?
        /// Of a worker, whose rules for requests hold as well.
        var configPath: String?
        var resources: [NamedResource] = []
        /// How a schema is read that does not say it.
        var draft = SchemaDraft.draft202012
        var assertsFormat = false
        var tellsAllErrors = false
        /// Each line is a document.
        var isLines = false
        var isJSON = false
        /// `-` is standard input.
        var files: [String]
    }

    /// - Parameters:
    ///   - arguments: without the program's own name.
    ///   - defaultConfig: the configuration file of commands that are given none.
    static func parse(_ arguments: [String], defaultConfig: DefaultConfiguration = .none) throws(UsageError)
        -> Invocation
    {
        switch try ArgumentParser(commands: commands, defaultConfig: defaultConfig).parse(arguments) {
        case .help(let command): return .help(HelpText(commands: commands).text(for: command))
        case .version: return .version
        case .command(let parsed): return try Invocation(parsed)
        }
    }

    private init(_ parsed: ParsedArguments) throws(UsageError) {
        let options = parsed.options
        switch parsed.command {
        case "worker":
            self = .worker(configPath: options["config"] ?? "")
        case "topology apply":
            self = .topologyApply(try TopologyApplyOptions(parsed))
        case "topology check":
            self = .topologyCheck(try Broker(parsed), asJSON: options["json"] != nil)
        case "topology print":
            self = .topologyPrint(try TopologyPrintOptions(parsed))
        case "publish":
            if options["message-id"] != nil, parsed.operands.count > 1 {
                throw UsageError(message: "option --message-id goes with one file only", command: parsed.command)
            }
            if options["message-id"] != nil, options["new-id"] != nil {
                throw UsageError(
                    message: "options --message-id and --new-id exclude each other", command: parsed.command)
            }
            if let id = options["message-id"], id.utf8.count > 255 {
                throw UsageError(message: "option --message-id is longer than 255 bytes", command: parsed.command)
            }
            self = .publish(
                PublishOptions(
                    broker: try Broker(parsed), files: parsed.operands, messageID: options["message-id"],
                    hasNewID: options["new-id"] != nil, queue: options["queue"], waits: options["wait"] != nil,
                    isJSON: options["json"] != nil,
                    timeoutSeconds: try parsed.integer("timeout", upTo: 86_400)
                        ?? PublishOptions.timeoutSecondsDefault))
        case "push":
            self = .push(
                PushCommand.Options(
                    configPath: options["config"] ?? "", files: parsed.operands, hasNewID: options["new-id"] != nil,
                    isJSON: options["json"] != nil))
        case "channels create", "channels read", "channels delete", "channels list":
            self = .channels(try ChannelsCommand.Options(parsed))
        case "watch":
            if options["reveal"] != nil, options["json"] == nil {
                throw UsageError(message: "option --reveal goes with --json", command: parsed.command)
            }
            self = .watch(
                WatchOptions(
                    broker: try Broker(parsed), isJSON: options["json"] != nil, filter: WatchFilter(parsed),
                    revealsTokens: options["reveal"] != nil,
                    count: try parsed.integer("count", upTo: .max),
                    timeoutSeconds: try parsed.integer("timeout", upTo: 31_536_000), readyFile: options["ready-file"]))
        case "validate":
            self = .validate(try ValidateOptions(parsed))
        case "config check":
            self = .configCheck(paths: parsed.operands)
        case "status":
            if options["live"] != nil,
                let other = ["watch", "interval", "json"].first(where: { options[$0] != nil })
            {
                throw UsageError(message: "option --\(other) does not go with --live", command: parsed.command)
            }
            self = .status(
                StatusCommand.Options(
                    worker: try parsed.workerAddress(), watches: options["watch"] != nil,
                    intervalSeconds: try parsed.integer("interval", upTo: 3600) ?? 1, isJSON: options["json"] != nil,
                    checksLiveness: options["live"] != nil))
        case "pause", "resume":
            self = .pause(
                PauseCommand.Options(
                    isPaused: parsed.command == "pause", scope: try parsed.pauseScope(),
                    worker: try parsed.workerAddress(), reason: options["reason"], saysYes: options["yes"] != nil))
        case "config example":
            self = .configExample
        case "schema":
            self = .schema(PrintedSchema(rawValue: parsed.operands[0]) ?? .notification)
        case "completion":
            self = .completion(CompletionShell(rawValue: parsed.operands[0]) ?? .bash)
        case "man":
            self = .manual(command: try parsed.command(of: Self.commands))
        case "doctor":
            self = .doctor(DoctorOptions(configPath: options["config"] ?? "", isJSON: options["json"] != nil))
        case let other:
            guard let options = try DeadLetterOptions(parsed) else {
                throw UsageError(message: "unknown command '\(other)'")
            }
            self = .deadLetters(options)
        }
    }
}

extension Invocation.Broker {
    init(_ parsed: ParsedArguments) throws(UsageError) {
        self.init()
        configPath = parsed.options["config"]
        for name in ["url", "prefix"] where configPath != nil && parsed.options[name] != nil {
            throw UsageError(
                message: "option --\(name) does not go with --config, which says it already", command: parsed.command)
        }
        url = parsed.options["url"] ?? url
        prefix = parsed.options["prefix"] ?? prefix
    }
}

extension Invocation.ValidateOptions {
    fileprivate init(_ parsed: ParsedArguments) throws(UsageError) {
        self.init(files: parsed.operands)
        schemaPath = parsed.options["schema"]
        configPath = parsed.options["config"]
        if schemaPath != nil, configPath != nil {
            throw UsageError(message: "option --config does not go with --schema", command: parsed.command)
        }
        if schemaPath == nil, let option = ["draft", "assert-format"].first(where: { parsed.options[$0] != nil }) {
            throw UsageError(message: "option --\(option) goes with --schema", command: parsed.command)
        }
        if schemaPath == nil, parsed.lists["resource"] != nil {
            throw UsageError(message: "option --resource goes with --schema", command: parsed.command)
        }
        if parsed.options["draft"] == "draft-07" { draft = .draft07 }
        for text in parsed.lists["resource"] ?? [] {
            guard let equals = text.firstIndex(of: "="), equals > text.startIndex, text.last != "=" else {
                throw UsageError(
                    message: "option --resource takes URI=FILE or URI=FOLDER, not '\(text)'", command: parsed.command)
            }
            resources.append(
                NamedResource(uri: String(text[..<equals]), path: String(text[text.index(after: equals)...])))
        }
        assertsFormat = parsed.options["assert-format"] != nil
        tellsAllErrors = parsed.options["all-errors"] != nil
        isLines = parsed.options["lines"] != nil
        isJSON = parsed.options["json"] != nil
    }
}

extension ParsedArguments {
    fileprivate func workerAddress() throws(UsageError) -> WorkerAddress? {
        switch (options["socket"], options["url"]) {
        case (nil, nil): return nil
        case (let path?, nil): return .socket(path)
        case (nil, let url?): return .url(url)
        case (.some, .some):
            throw UsageError(message: "options --socket and --url exclude each other", command: command)
        }
    }

    fileprivate func pauseScope() throws(UsageError) -> PauseScope {
        try PauseScope(
            { options[$0] },
            exclude: { UsageError(message: "options --\($0) and --\($1) exclude each other", command: command) })
    }

    /// The command that the operands name; nil when there are none.
    fileprivate func command(of commands: [CommandSyntax]) throws(UsageError) -> String? {
        guard !operands.isEmpty else { return nil }
        let name = operands.joined(separator: " ")
        guard !commands.contains(where: { $0.name == name }) else { return name }
        let hint = Suggestion.nearest(to: name, among: commands.map(\.name)).map { "; did you mean '\($0)'?" } ?? ""
        throw UsageError(message: "there is no command '\(name)'\(hint)", command: command)
    }

    func integer(_ option: String, upTo limit: Int) throws(UsageError) -> Int? {
        guard let text = options[option] else { return nil }
        guard let number = Int(text), number > 0, number <= limit else {
            let range = limit == .max ? "a whole number above 0" : "a whole number from 1 to \(limit)"
            throw UsageError(message: "option --\(option) takes \(range), not '\(text)'", command: command)
        }
        return number
    }
}
