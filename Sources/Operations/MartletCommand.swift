import Delivery

/// The `martlet` command: arguments in, exit code out.
public enum MartletCommand {
    public static let version = "0.1.0"

    /// To be called on the main thread, before others are started.
    ///
    /// - Parameter arguments: without the program's own name.
    public static func run(_ arguments: [String]) -> ExitCode {
        let invocation: Invocation
        let defaultConfig = DefaultConfiguration.find()
        do {
            invocation = try Invocation.parse(arguments, defaultConfig: defaultConfig)
        } catch {
            Terminal.error.line("martlet: \(error.message.printable) (see \(error.help))")
            return .usage
        }
        if case .validate(let options) = invocation, options.configPath == nil, options.schemaPath == nil,
            let problem = defaultConfig.problem
        {
            Terminal.error.line("martlet: \(problem); requests are checked without its rules")
        }
        do {
            return try run(invocation)
        } catch {
            for mistake in error.mistakes { Terminal.error.line("martlet: \(mistake)") }
            return .usage
        }
    }

    private static func run(_ invocation: Invocation) throws(ConfigurationError) -> ExitCode {
        switch invocation {
        case .help(let text):
            return print(text)
        case .version:
            return print("martlet \(version)\n")
        case .worker(let configPath):
            CoreDump.disable()
            let version = try ConfigurationVersion(readFrom: configPath)
            let commands = CommandAdvice(configPath: configPath)
            return ExitCode(WorkerProcess.run(version, from: configPath, commands: commands))
        case .topologyPrint(let options):
            return try TopologyPrintCommand(options: options).run()
        case .topologyCheck(let broker, let asJSON):
            let command = TopologyCheckCommand(target: try TopologyTarget(broker), isJSON: asJSON)
            return CommandLoop.run { await command.run(on: $0) }
        case .topologyApply(let options):
            let command = TopologyCommand(target: try TopologyTarget(options.broker), options)
            return CommandLoop.run { await command.apply(on: $0) }
        case .publish(let options):
            return PublishCommand(access: try options.broker.access(), options: options).run()
        case .push(let options):
            return try PushCommand(options: options).run()
        case .channels(let options):
            return try ChannelsCommand(options: options).run()
        case .validate(let options):
            return try ValidateCommand(options: options).run()
        case .configCheck(let paths):
            return ConfigCheckCommand(paths: paths).run()
        case .status(let options):
            return StatusCommand(options: options).run()
        case .pause(let options):
            return PauseCommand(options: options).run()
        case .deadLetters(let options):
            return try DeadLettersCommand.run(options)
        case .configExample:
            return print(String(decoding: PrintedSchema.exampleConfiguration, as: UTF8.self))
        case .schema(let schema):
            return print(String(decoding: schema.text, as: UTF8.self))
        case .completion(let shell):
            return print(shell.script(for: Invocation.commands))
        case .manual(let command):
            return print(ManualPage(commands: Invocation.commands).text(for: command))
        case .doctor(let options):
            return DoctorCommand(options: options).run()
        case .watch(let options):
            let access = try options.broker.access()
            return CommandLoop.run { await WatchCommand(loop: $0, access: access, options: options).run() }
        }
    }

    private static func print(_ text: String) -> ExitCode { Terminal.output.write(text) ? .success : .failed }
}

extension UsageError {
    fileprivate var help: String { (["martlet", command, "--help"].filter { !$0.isEmpty }).joined(separator: " ") }
}
