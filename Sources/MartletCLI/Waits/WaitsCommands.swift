import CommandKit
import DeadLetters
import EventLoop

/// The command that counts waiting requests in groups.
struct WaitsListCommand: MessageQueueCommand {
    static let syntax = CommandSyntax(
        path: ["waits", "list"],
        summary: "Count waiting requests by cause.",
        discussion: """
            Read all wait queues of the topology without changing them. CODE is the cause: the reason of APNs, or of an
            open breaker. While this command reads a request, usually for seconds, the request does not return to its
            request queue.

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

/// The command that returns waiting requests to their request queues.
struct WaitsBringBackCommand: MessageQueueCommand {
    static let syntax = CommandSyntax(
        path: ["waits", "bring-back"],
        summary: "Return waiting requests to their request queues immediately.",
        discussion: """
            With IDs, return only requests with one of these IDs; with --where, only requests that match; with --all,
            every request. Without ID, --where and --limit, ask for confirmation on a terminal after a dry run;
            elsewhere and with --json, require --all or --yes. Run the command after repairing the cause: while a
            breaker is open, workers move the requests to a wait queue again. Each request is published unchanged, and
            removed from its wait queue after the broker has confirmed it. With --rate and a filter or an ID, the other
            requests of a wait queue stay unacknowledged until the command has read the queue. The command may be
            stopped at any time and run again. If the command is killed, a few requests may be in both queues: a single
            worker process pushes such a request once, but two processes may each push it.

            \(ResendText.filters)
            """,
        operands: "[ID…]", operandValues: .text,
        options: .broker + [.filter] + .resending("return every request without asking for confirmation") + [.json])

    let options: DeadLetterOptions

    init(_ parsed: ParsedArguments) throws(UsageError) {
        options = try DeadLetterOptions(.redrive, of: .waits, groupedBy: [.code, .app, .queue], parsed)
    }

    func execute(_ task: DeadLetterTask, on loop: EpollLoop) async -> ExitCode {
        await DeadLetterRedrive.run(task, on: loop)
    }
}
