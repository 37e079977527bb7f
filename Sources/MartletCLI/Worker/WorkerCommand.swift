import CommandKit
import Configuration
import Worker

/// The command that runs a worker until a signal stops it.
struct WorkerCommand: ConfiguredCommand {
    static let syntax = CommandSyntax(
        path: ["worker"],
        summary: "Consume requests from RabbitMQ, push them to APNs, publish the outcomes.",
        discussion: """
            Wait until the broker is connected and has the topology, and log missing objects. Run until SIGTERM or
            SIGINT; then stop consuming and settle unacknowledged requests within limits.drain_deadline_seconds. A
            second signal stops the worker immediately. SIGHUP reloads the file; changed key and certificate files are
            reloaded automatically. Logs are JSON lines on standard error. The schema of the file is
            schemas/config.schema.json.
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
