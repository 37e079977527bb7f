extension Invocation {
    /// Every command with its options, in the order in which help lists them.
    static let commands =
        general + CommandSyntax.channels + CommandSyntax.deadLetters + CommandSyntax.waits
        + CommandSyntax.unrouted

    private static let general: [CommandSyntax] = [
        CommandSyntax(
            path: ["worker"],
            summary: "Take messages from RabbitMQ, send them to APNs, publish what became of them.",
            discussion: """
                Waits until the broker is there and has all that it needs, and says what it waits for. Runs until
                SIGTERM or SIGINT, then takes no more messages and settles those it holds, for at most
                limits.drain_deadline_seconds; a second signal ends it at once. SIGHUP has it read the file anew; keys
                and certificates are taken by themselves when their files change. Logs JSON lines to standard error.
                The schema of the file is schemas/config.schema.json.
                """,
            options: [.config(isRequired: true)]),
        .topologyApply,
        .topologyCheck,
        .topologyPrint,
        CommandSyntax(
            path: ["validate"],
            summary: "Check documents against a JSON Schema: messages, or any others.",
            discussion: """
                Prints FILE: valid, or FILE:LINE:COLUMN with a sentence on what is wrong there; on a terminal the line
                itself as well, with a caret, but nothing of a document in a pipe or a file. With --json a line for each
                document: {"valid":true}, or false with errors. Exit code 0: all are valid, 1: one is not, 2: the schema
                is broken, a file cannot be read, the result cannot be written, or wrong usage.

                Without --schema documents are checked as messages: schema, and limits in bytes. With --config they are
                checked as a worker with that file checks them: apps, environments, payload schemas and the largest
                message, too. A key inside aps that Apple does not define is told as a warning, which makes nothing
                invalid. A schema is 2020-12 or draft-07 and may refer to files in its folder by their $id or name;
                nothing is fetched. FILE may be - for standard input.
                """,
            operands: "FILE…",
            options: [
                OptionSyntax(
                    name: "config", value: "FILE",
                    help: "the worker's configuration file (YAML); \(DefaultConfiguration.help)", isAdvisory: true),
                .json,
                OptionSyntax(name: "schema", value: "FILE", help: "the schema; default that of messages"),
                OptionSyntax(name: "all-errors", help: "tell all errors of a document, not the first alone"),
                OptionSyntax(name: "lines", help: "each line is a document, and checked as it comes"),
                OptionSyntax(
                    name: "resource", value: "URI=FILE|FOLDER",
                    help: "where references lead to that begin so; several are allowed", isList: true, values: .files),
                OptionSyntax(name: "assert-format", help: "a value that breaks its format is invalid"),
                OptionSyntax(
                    name: "draft", value: "DRAFT", help: "of a schema without $schema: 2020-12 (default), draft-07",
                    values: .words(["2020-12", "draft-07"])),
            ]),
        CommandSyntax(
            path: ["config", "check"],
            summary: "Check configuration files, and the files that they name.",
            discussion: """
                Looks at all that a worker looks at before it starts, and connects to nothing. Exit code 0: a worker would
                start with them, 1: one has mistakes, which are told on standard error, all of them.
                """,
            operands: "FILE…"),
        .configExample, .schema, .doctor, .status, .pause, .resume,
        CommandSyntax(
            path: ["publish"],
            summary: "Publish files as requests, each file's bytes as they are.",
            discussion: """
                Waits for the broker's confirmation of each, and prints its id and what became of it. The message-id
                is the body's own id where it has one, otherwise a new UUID. With --wait it waits for the results of
                these messages, too, and shows them as martlet watch does; the exit code is then 0 only when all were
                accepted. While no result comes it says why, as far as the broker and workers of this user on this
                machine show it: no consumer, a pause, an open breaker. A worker does not push again what was accepted under the same id: --new-id gives each
                another. Nothing is checked before; only a key inside aps that Apple does not define is warned of, on
                standard error.
                """,
            operands: "FILE…",
            options: [
                .config(), .url, .prefix, .json,
                OptionSyntax(name: "wait", help: "wait for the results, and show them"),
                OptionSyntax(name: "new-id", help: "put a new id in the place of the file's own"),
                OptionSyntax(name: "message-id", value: "ID", help: "this message-id; for a single file"),
                OptionSyntax(
                    name: "queue", value: "NAME", help: "straight to this queue; needed where the file has several"),
                OptionSyntax(
                    name: "timeout", value: "SECONDS",
                    help: "give up after so long, broker and results each; default 30"),
            ]),
        .push, .watch, .completion, .manual,
    ]
}

extension OptionSyntax {
    static func config(isRequired: Bool = false) -> OptionSyntax {
        OptionSyntax(
            name: "config", value: "FILE", help: "the configuration file (YAML); \(DefaultConfiguration.help)",
            isRequired: isRequired)
    }
    static let json = OptionSyntax(name: "json", help: "print JSON lines")
    static let url = OptionSyntax(
        name: "url", value: "URL", help: "the broker, without --config; default amqp://127.0.0.1:5672; may hold ${NAME}"
    )
    static let prefix = OptionSyntax(
        name: "prefix", value: "WORD", help: "first part of all names at the broker, without --config; default push")
}
