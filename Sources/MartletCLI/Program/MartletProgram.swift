import CommandKit
import ControlProtocol

/// The `martlet` program.
public enum MartletProgram {
    /// Runs a command line. To be called on the main thread, before others are started.
    ///
    /// - Parameter arguments: without the program's own name.
    /// - Returns: the exit status.
    public static func run(_ arguments: [String]) -> Int32 {
        Program.martlet.run(arguments, defaults: DefaultConfiguration.find().optionDefaults).rawValue
    }
}

extension Program {
    private static let martletSummary =
        "sends push notifications: from RabbitMQ, checked by JSON Schema, to APNs, and the results back."

    static let martlet = Program(
        name: "martlet", version: MartletVersion.current, summary: martletSummary,
        introduction: "Martlet \(martletSummary)",
        commands: [
            WorkerCommand.self, TopologyApplyCommand.self, TopologyCheckCommand.self, TopologyPrintCommand.self,
            ValidateCommand.self, ConfigCheckCommand.self, ConfigExampleCommand.self, SchemaCommand.self,
            DoctorCommand.self, StatusCommand.self, PauseCommand.self, ResumeCommand.self, PublishCommand.self,
            PushCommand.self, WatchCommand.self, CompletionCommand.self, ManualCommand.self,
            ChannelsCreateCommand.self, ChannelsReadCommand.self, ChannelsDeleteCommand.self,
            ChannelsListCommand.self, DeadLettersStatsCommand.self, DeadLettersListCommand.self,
            DeadLettersShowCommand.self, DeadLettersRedriveCommand.self, DeadLettersExportCommand.self,
            DeadLettersImportCommand.self, DeadLettersEditCommand.self, DeadLettersDropCommand.self,
            WaitsListCommand.self, WaitsBringBackCommand.self, UnroutedListCommand.self, UnroutedReplayCommand.self,
        ],
        abbreviations: ["dead": "dead-letters"],
        environment: [
            (
                DefaultConfiguration.variable,
                "configuration file of commands without --config; empty: none; not set: \(DefaultConfiguration.path)"
            )
        ],
        exitCodes: ExitCode.meanings)
}
