import CommandKit

/// Pauses workers, or the pushes of one key, certificate or topic.
struct PauseCommand: Command {
    static let syntax = CommandSyntax(
        path: ["pause"],
        summary: "Have workers take no more messages, or hold up those of one key, certificate or topic.",
        discussion: """
            What was taken is settled as ever. Messages of a paused key, certificate or topic go to the wait queues without a
            try being counted, for at most retry.hold_max; when none is named, all messages stay in their queues. It lasts
            until martlet resume, or the end of the worker. Without --key, --certificate and --topic it asks on a terminal,
            and shows what is paused already. martlet status shows who paused, why and since when.
            """,
        options: PauseChange.options + [
            OptionSyntax(name: "reason", value: "TEXT", help: "why; martlet status shows it"), .yes,
        ])

    let change: PauseChange

    init(_ parsed: ParsedArguments) throws(UsageError) { change = try PauseChange(isPaused: true, parsed) }

    func run() -> ExitCode { change.run() }
}

/// Ends what ``PauseCommand`` began.
struct ResumeCommand: Command {
    static let syntax = CommandSyntax(
        path: ["resume"], summary: "Undo martlet pause.",
        discussion: "What waits meanwhile comes back within minutes, as the wait queues let it.",
        options: PauseChange.options)

    let change: PauseChange

    init(_ parsed: ParsedArguments) throws(UsageError) { change = try PauseChange(isPaused: false, parsed) }

    func run() -> ExitCode { change.run() }
}
