import CommandKit
import DeadLetters
import EventLoop

/// The command that counts unrouted results in groups.
struct UnroutedListCommand: MessageQueueCommand {
    static let syntax = CommandSyntax(
        path: ["unrouted", "list"],
        summary: "Count results without a bound queue, by outcome and app.",
        discussion: """
            Read the queue of unrouted results without changing it.

            \(ResendText.filters)
            """,
        options: .broker + [.groupedBy("outcome,app"), .filter, .deliveryLimit, .json])

    let options: DeadLetterOptions

    init(_ parsed: ParsedArguments) throws(UsageError) {
        options = try DeadLetterOptions(.stats, of: .unrouted, groupedBy: [.outcome, .app], parsed)
    }

    func execute(_ task: DeadLetterTask, on loop: EpollLoop) async -> ExitCode {
        await DeadLetterStats(task).run(on: loop)
    }
}

/// The command that publishes unrouted results again.
struct UnroutedReplayCommand: MessageQueueCommand {
    static let syntax = CommandSyntax(
        path: ["unrouted", "replay"],
        summary: "Publish unrouted results again.",
        discussion: """
            With IDs, publish only results with one of these IDs; with --where, only results that match; with --all,
            every result. Each result goes to the result exchange with its original routing key. Without ID, --where and
            --limit, ask for confirmation on a terminal after a dry run; elsewhere and with --json, require --all or
            --yes. Bind a queue first: martlet topology apply. Stop martlet watch and martlet publish --wait first:
            their queues would receive the results, and the broker deletes these queues later. With
            amqp.management_url, the command checks for such queues. The first result of each routing key is published
            separately. If no queue is bound for the key, the results with this key stay. A result is removed after the
            broker has confirmed it. If the command is killed, published results may also stay: consumers of results
            discard duplicates by message-id.

            \(ResendText.filters)
            """,
        operands: "[ID…]", operandValues: .text,
        options: .broker + [.filter] + .resending("publish every result without asking for confirmation") + [
            .deliveryLimit, .json,
        ])

    let options: DeadLetterOptions

    init(_ parsed: ParsedArguments) throws(UsageError) {
        options = try DeadLetterOptions(.redrive, of: .unrouted, groupedBy: [.outcome, .app], parsed)
    }

    func execute(_ task: DeadLetterTask, on loop: EpollLoop) async -> ExitCode {
        await DeadLetterRedrive.run(task, on: loop)
    }
}
