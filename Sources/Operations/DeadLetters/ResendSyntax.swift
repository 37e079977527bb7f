extension CommandSyntax {
    /// `martlet waits …`
    static let waits: [CommandSyntax] = [
        CommandSyntax(
            path: ["waits", "list"],
            summary: "Count requests that wait for their next attempt, by cause.",
            discussion: """
                Reads all wait queues of the topology and leaves them as they are. CODE is the cause: APNs' reason, or that
                of an open breaker. A request is not returned to its queue while this command holds it, which takes seconds.

                \(filters)
                """,
            options: .broker + [.groupedBy("code,app,queue"), .filter, .json]),
        CommandSyntax(
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

                \(filters)
                """,
            operands: "[ID…]", operandValues: .text,
            options: .broker + [.filter] + resending("return every request, without a question") + [.json]),
    ]

    /// `martlet unrouted …`
    static let unrouted: [CommandSyntax] = [
        CommandSyntax(
            path: ["unrouted", "list"],
            summary: "Count results that no queue was bound for, by outcome and app.",
            discussion: """
                Reads the queue for unrouted results and leaves it as it is.

                \(filters)
                """,
            options: .broker + [.groupedBy("outcome,app"), .filter, .deliveryLimit, .json]),
        CommandSyntax(
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

                \(filters)
                """,
            operands: "[ID…]", operandValues: .text,
            options: .broker + [.filter] + resending("publish every result, without a question") + [
                .deliveryLimit, .json,
            ]),
    ]

    private static func resending(_ all: String) -> [OptionSyntax] {
        [
            OptionSyntax(name: "all", help: all), .limit("so many at most"),
            OptionSyntax(name: "rate", value: "N/s", help: "so many a second at most"),
            OptionSyntax(name: "dry-run", help: "only count what would be published"), .yes,
        ]
    }

    private static let filters = """
        A filter is written as for martlet dead-letters: 'code == "TooManyRequests" && app == "com.example.app"'. Fields
        that the messages do not have are null.
        """
}

extension OptionSyntax {
    fileprivate static func groupedBy(_ standard: String) -> OptionSyntax {
        OptionSyntax(name: "by", value: "KEYS", help: "of \(DeadLetterGroups.Key.list); default \(standard)")
    }
}
