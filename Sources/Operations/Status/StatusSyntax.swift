extension CommandSyntax {
    static let status = CommandSyntax(
        path: ["status"],
        summary: "Show how the workers on this machine stand, or one elsewhere.",
        discussion: """
            Finds the workers of this user by their control sockets. Says of each whether it takes messages and why not,
            what it did in the last second, what is held up, and how much lies in the queues. With --watch the table is
            drawn again and again, as much of it as fits the window, until q or Ctrl-C; --json prints what /status of each worker answers, a line each.
            Exit code 0: all are ready, 1: one is not, 3: there is no worker, or one cannot be reached.
            With --live, exit code 0: every lane of all workers makes progress, 1: a lane is stalled; --live goes with
            neither --watch, --interval nor --json.
            """,
        options: WorkerAddress.options + [
            OptionSyntax(name: "watch", help: "go on until q or an interruption"),
            OptionSyntax(name: "interval", value: "SECONDS", help: "between two looks; default 1"),
            OptionSyntax(name: "json", help: "print JSON lines"),
            OptionSyntax(name: "live", help: "print only what /livez answers, for liveness probes"),
        ])

    static let pause = CommandSyntax(
        path: ["pause"],
        summary: "Have workers take no more messages, or hold up those of one key, certificate or topic.",
        discussion: """
            What was taken is settled as ever. Messages of a paused key, certificate or topic go to the wait queues without a
            try being counted, for at most retry.hold_max; when none is named, all messages stay in their queues. It lasts
            until martlet resume, or the end of the worker. Without --key, --certificate and --topic it asks on a terminal,
            and shows what is paused already. martlet status shows who paused, why and since when.
            """,
        options: pauseOptions + [
            OptionSyntax(name: "reason", value: "TEXT", help: "why; martlet status shows it"), .yes,
        ])

    static let resume = CommandSyntax(
        path: ["resume"], summary: "Undo martlet pause.",
        discussion: "What waits meanwhile comes back within minutes, as the wait queues let it.", options: pauseOptions)

    private static let pauseOptions = [
        WorkerAddress.socketOption,
        OptionSyntax(name: "key", value: "KEY-ID", help: "only what is pushed with this key"),
        OptionSyntax(name: "certificate", value: "NAME", help: "only what is pushed with this certificate"),
        OptionSyntax(name: "topic", value: "TOPIC", help: "only what is pushed to this topic"),
    ]
}
