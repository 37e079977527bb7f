import CommandKit
import Configuration

/// The command that pauses workers, or the pushes of one key, certificate or topic.
struct PauseCommand: ConfiguredCommand {
    static let syntax = CommandSyntax(
        path: ["pause"],
        summary: "Stop consuming requests, or hold the requests of one key, certificate or topic.",
        discussion: """
            Requests in flight are completed and settled. Requests of a paused key, certificate or topic go to the wait queues
            without counting an attempt, for at most retry.hold_max. Without --key, --certificate and --topic, all requests
            stay in their queues; the command then asks for confirmation on a terminal and shows current pauses. A pause
            lasts until martlet resume or until the worker exits. martlet status shows the user, reason and age of a pause.

            With --fleet, pause all workers at the broker of --config or --url whose configuration has the section fleet.
            Workers that start later are paused too. The pause lasts until martlet resume --fleet, or for the duration
            of --until. Print the number of workers in which the pause is in force. Exit code 0: all workers with
            consumers of request queues, 1: not all.
            """,
        options: PauseChange.options + FleetPauseChange.options + [
            OptionSyntax(
                name: "reason", value: "TEXT", help: "reason that martlet status shows; required with --fleet"),
            OptionSyntax(
                name: "until", value: "DURATION", help: "with --fleet: duration, such as 2h (at most 30d)"
            ).requiring("fleet"),
            .yes,
        ])

    let change: PauseTarget

    init(_ parsed: ParsedArguments) throws(UsageError) { change = try PauseTarget(isPaused: true, parsed) }

    func execute() throws(ConfigurationError) -> ExitCode { try change.execute() }
}

/// The command that ends a pause of ``PauseCommand``.
struct ResumeCommand: ConfiguredCommand {
    static let syntax = CommandSyntax(
        path: ["resume"], summary: "End a pause that martlet pause began.",
        discussion: """
            Held requests return when their delays in the wait queues expire. To return the requests immediately, run
            martlet waits bring-back. With --fleet, end a pause of martlet pause --fleet in all workers.
            """,
        options: PauseChange.options + FleetPauseChange.options)

    let change: PauseTarget

    init(_ parsed: ParsedArguments) throws(UsageError) { change = try PauseTarget(isPaused: false, parsed) }

    func execute() throws(ConfigurationError) -> ExitCode { try change.execute() }
}

/// The workers that a pause or resumption concerns.
enum PauseTarget: Equatable, Sendable {
    case workers(PauseChange)
    case fleet(FleetPauseChange)

    init(isPaused: Bool, _ parsed: ParsedArguments) throws(UsageError) {
        if parsed.has("fleet") {
            self = .fleet(try FleetPauseChange(isPaused: isPaused, parsed))
            return
        }
        self = .workers(try PauseChange(isPaused: isPaused, parsed))
    }

    func execute() throws(ConfigurationError) -> ExitCode {
        switch self {
        case .workers(let change): change.run()
        case .fleet(let change): try change.execute()
        }
    }
}
