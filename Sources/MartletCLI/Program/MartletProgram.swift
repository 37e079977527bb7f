import CommandKit
import ControlProtocol

/// The `martlet` program.
public enum MartletProgram {
    /// Runs a command line. Call this function on the main thread, before other threads start.
    ///
    /// - Parameter arguments: the arguments without the program's name.
    /// - Returns: the exit status.
    public static func run(_ arguments: [String]) -> Int32 {
        Program.martlet.run(arguments, defaults: DefaultConfiguration.find().optionDefaults).rawValue
    }
}

extension Program {
    private static let martletSummary =
        "consumes push notification requests from RabbitMQ, validates them by JSON Schema, pushes them to APNs, and publishes the results."

    static let martlet = Program(
        name: "martlet", version: MartletVersion.current, summary: martletSummary,
        introduction: "Martlet \(martletSummary)",
        commands: [
            WorkerCommand.self, TopologyApplyCommand.self, TopologyCheckCommand.self, TopologyPrintCommand.self,
            ValidateCommand.self, ConfigCheckCommand.self, ConfigExampleCommand.self, SchemaCommand.self,
            DoctorCommand.self, StatusCommand.self, PauseCommand.self, ResumeCommand.self, ProbeCommand.self,
            PublishCommand.self, PushCommand.self, WatchCommand.self, TraceCommand.self, CompletionCommand.self,
            ManualCommand.self,
            ChannelsCreateCommand.self, ChannelsReadCommand.self, ChannelsDeleteCommand.self,
            ChannelsListCommand.self, DeadLettersStatsCommand.self, DeadLettersListCommand.self,
            DeadLettersShowCommand.self, DeadLettersRedriveCommand.self, DeadLettersExportCommand.self,
            DeadLettersImportCommand.self, DeadLettersEditCommand.self, DeadLettersDropCommand.self,
            RegistrationsRegisterCommand.self, RegistrationsUnregisterCommand.self,
            RegistrationsMigrateCommand.self, RegistrationsShowCommand.self, RegistrationsCountCommand.self,
            RegistrationsImportCommand.self, RegistrationsExportCommand.self, RegistrationsEraseCommand.self,
            RegistrationsUnsuspendCommand.self, RegistrationsRekeyCommand.self, RegistrationsKeysCommand.self,
            WaitsListCommand.self, WaitsBringBackCommand.self, UnroutedListCommand.self, UnroutedReplayCommand.self,
            AuditCommand.self, HistoryEraseCommand.self, ConsoleOpenCommand.self, ConsoleTokenCommand.self,
            ConsoleCommand.self,
        ],
        abbreviations: ["dead": "dead-letters"],
        environment: [
            (
                DefaultConfiguration.variable,
                "configuration file if --config is not given; empty: none; unset: \(DefaultConfiguration.path)"
            )
        ],
        exitCodes: ExitCode.meanings)
}
