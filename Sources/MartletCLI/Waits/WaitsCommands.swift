import CommandKit
import DeadLetters
import EventLoop

/// Counts waiting requests in groups.
struct WaitsListCommand: MessageQueueCommand {
    static let syntax = CommandSyntax(
        path: ["waits", "list"],
        summary: "Count requests that wait for their next attempt, by cause.",
        discussion: """
            Reads all wait queues of the topology and leaves them as they are. CODE is the cause: APNs' reason, or that
            of an open breaker. A request is not returned to its queue while this command holds it, which takes seconds.

            \(ResendText.filters)
            """,
        options: .broker + [.groupedBy("code,app,queue"), .filter, .json])

    let options: DeadLetterOptions

    init(_ parsed: ParsedArguments) throws(UsageError) {
        options = try DeadLetterOptions(.stats, of: .waits, groupedBy: [.code, .app, .queue], parsed)
    }

    func execute(_ task: DeadLetterTask, on loop: EpollLoop) async -> ExitCode {
        await DeadLetterStats(task).run(on: loop)
    }
}

/// Returns waiting requests to their request queues.
struct WaitsBringBackCommand: MessageQueueCommand {
    static let syntax = CommandSyntax(
        path: ["waits", "bring-back"],
        summary: "Return waiting requests to their request queues at once.",
        discussion: """
            Returns the requests that have an ID or match --where, or with --all every one. Without ID, --where and
            --limit it asks on a terminal, after a dry run; elsewhere it needs --all or --yes. Run it after the cause is
            repaired: while a breaker is open, workers move the requests to a wait queue again. Each request is published
            unchanged and removed from its wait queue once the broker has confirmed it. With --rate and a filter or an ID,
            the other requests of a wait queue are held until the command ends. The command may be stopped at any
            moment and run again. If it is killed, a few requests may be in both queues: one worker process pushes
            such a request once, two may each push it.

            \(ResendText.filters)
            """,
        operands: "[ID…]", operandValues: .text,
        options: .broker + [.filter] + .resending("return every request, without a question") + [.json])

    let options: DeadLetterOptions

    init(_ parsed: ParsedArguments) throws(UsageError) {
        options = try DeadLetterOptions(.redrive, of: .waits, groupedBy: [.code, .app, .queue], parsed)
    }

    func execute(_ task: DeadLetterTask, on loop: EpollLoop) async -> ExitCode {
        await DeadLetterRedrive.run(task, on: loop)
    }
}
