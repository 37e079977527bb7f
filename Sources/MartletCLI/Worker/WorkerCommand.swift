import CommandKit
import Configuration
import Worker

/// Runs a worker until it is signaled to stop.
struct WorkerCommand: ConfiguredCommand {
    static let syntax = CommandSyntax(
        path: ["worker"],
        summary: "Take messages from RabbitMQ, send them to APNs, publish what became of them.",
        discussion: """
            Waits until the broker is there and has all that it needs, and says what it waits for. Runs until
            SIGTERM or SIGINT, then takes no more messages and settles those it holds, for at most
            limits.drain_deadline_seconds; a second signal ends it at once. SIGHUP has it read the file anew; keys
            and certificates are taken by themselves when their files change. Logs JSON lines to standard error.
            The schema of the file is schemas/config.schema.json.
            """,
        options: [.config(isRequired: true)])

    let configPath: String

    init(_ parsed: ParsedArguments) { configPath = parsed.required("config") }

    func execute() throws(ConfigurationError) -> ExitCode {
        CoreDump.disable()
        let version = try ConfigurationVersion(readFrom: configPath)
        let commands = CommandAdvice(configPath: configPath)
        return ExitCode(WorkerProcess.run(version, from: configPath, commands: commands))
    }
}
