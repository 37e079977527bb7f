import CommandKit

/// The command that pauses workers, or the pushes of one key, certificate or topic.
struct PauseCommand: Command {
    static let syntax = CommandSyntax(
        path: ["pause"],
        summary: "Stop consuming requests, or hold the requests of one key, certificate or topic.",
        discussion: """
            Requests in flight are completed and settled. Requests of a paused key, certificate or topic go to the wait queues
            without counting an attempt, for at most retry.hold_max. Without --key, --certificate and --topic, all requests
            stay in their queues; the command then asks for confirmation on a terminal and shows current pauses. A pause
            lasts until martlet resume or until the worker exits. martlet status shows the user, reason and age of a pause.
            """,
        options: PauseChange.options + [
            OptionSyntax(name: "reason", value: "TEXT", help: "reason that martlet status shows"), .yes,
        ])

    let change: PauseChange

    init(_ parsed: ParsedArguments) throws(UsageError) { change = try PauseChange(isPaused: true, parsed) }

    func run() -> ExitCode { change.run() }
}

/// The command that ends a pause of ``PauseCommand``.
struct ResumeCommand: Command {
    static let syntax = CommandSyntax(
        path: ["resume"], summary: "End a pause that martlet pause began.",
        discussion: """
            Held requests return when their delays in the wait queues expire. To return the requests immediately, run
            martlet waits bring-back.
            """,
        options: PauseChange.options)

    let change: PauseChange

    init(_ parsed: ParsedArguments) throws(UsageError) { change = try PauseChange(isPaused: false, parsed) }

    func run() -> ExitCode { change.run() }
}
