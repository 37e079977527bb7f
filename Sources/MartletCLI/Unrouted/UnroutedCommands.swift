import CommandKit
import DeadLetters
import EventLoop

/// Counts unrouted results in groups.
struct UnroutedListCommand: MessageQueueCommand {
    static let syntax = CommandSyntax(
        path: ["unrouted", "list"],
        summary: "Count results that no queue was bound for, by outcome and app.",
        discussion: """
            Reads the queue for unrouted results and leaves it as it is.

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

/// Publishes unrouted results again.
struct UnroutedReplayCommand: MessageQueueCommand {
    static let syntax = CommandSyntax(
        path: ["unrouted", "replay"],
        summary: "Publish results again that no queue was bound for.",
        discussion: """
            Publishes the results that have an ID or match --where, or with --all every one, to the exchange for results
            with their own routing keys. Without ID, --where and --limit it asks on a terminal, after a dry run;
            elsewhere it needs --all or --yes. Bind a queue first: martlet topology apply. End martlet watch and martlet
            publish --wait first: their queues take results, and are deleted with them. With amqp.management_url this is
            checked. The first result of each
            routing key is published alone. If no queue is bound for the routing key, the results that have it stay. A
            result is removed once the broker has confirmed it. A command that is killed may leave results that it has
            published: consumers of results drop duplicates by message-id.

            \(ResendText.filters)
            """,
        operands: "[ID…]", operandValues: .text,
        options: .broker + [.filter] + .resending("publish every result, without a question") + [
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
