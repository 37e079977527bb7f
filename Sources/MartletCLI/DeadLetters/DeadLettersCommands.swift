import CommandKit
import DeadLetters
import Delivery
import EventLoop

/// Counts dead letters in groups.
struct DeadLettersStatsCommand: MessageQueueCommand {
    static let syntax = CommandSyntax(
        path: ["dead-letters", "stats"],
        summary: "Count dead letters by what they have in common, the biggest group first.",
        discussion: DeadLettersText.looking,
        options: .broker + [.groupedBy("class,code,app"), .filter, .deliveryLimit, .json])

    let options: DeadLetterOptions

    init(_ parsed: ParsedArguments) throws(UsageError) { options = try DeadLetterOptions(.stats, parsed) }

    func execute(_ task: DeadLetterTask, on loop: EpollLoop) async -> ExitCode {
        await DeadLetterStats(task).run(on: loop)
    }
}

/// Lists dead letters.
struct DeadLettersListCommand: MessageQueueCommand {
    static let syntax = CommandSyntax(
        path: ["dead-letters", "list"],
        summary: "Show dead letters, the oldest first.",
        discussion: DeadLettersText.looking,
        options: .broker + [
            .filter, .limit("default \(DeadLetterOptions.listedDefault)"), .reveal, .deliveryLimit, .json,
        ])

    let options: DeadLetterOptions

    init(_ parsed: ParsedArguments) throws(UsageError) { options = try DeadLetterOptions(.list, parsed) }

    func execute(_ task: DeadLetterTask, on loop: EpollLoop) async -> ExitCode {
        await DeadLetterList(task).run(on: loop)
    }
}

/// Shows whole dead letters.
struct DeadLettersShowCommand: MessageQueueCommand {
    static let syntax = CommandSyntax(
        path: ["dead-letters", "show"],
        summary: "Show all of a dead letter: why, headers, body.",
        discussion: """
            Of several dead letters with the same ID, reason and body it prints the first and the number of the others;
            with --json each of them.
            """,
        operands: "ID…", operandValues: .text,
        options: .broker + [.reveal, .deliveryLimit, .json])

    let options: DeadLetterOptions

    init(_ parsed: ParsedArguments) throws(UsageError) { options = try DeadLetterOptions(.show, parsed) }

    func execute(_ task: DeadLetterTask, on loop: EpollLoop) async -> ExitCode {
        await DeadLetterShow(task).run(on: loop)
    }
}

/// Sends dead letters as requests again.
struct DeadLettersRedriveCommand: MessageQueueCommand {
    static let syntax = CommandSyntax(
        path: ["dead-letters", "redrive"],
        summary: "Send dead letters back to where they came from.",
        discussion: """
            Sends the dead letters that have an ID or match --where, or with --all every one. Without ID, --where and
            --limit it asks on a terminal, after a dry run; elsewhere it needs --all or --yes. Begin with --dry-run, then
            with --limit 10. A dead letter that no worker would take stays and is counted. The others are published,
            and removed once the broker has confirmed them. The command may be stopped at any moment and run again: a
            worker pushes no request twice that it receives twice. Dead letters that do not match stay in the queue, in
            their order. Attempts are counted on: a request that had used up all of them gets one more.

            \(DeadLettersText.filters)
            """,
        operands: "[ID…]", operandValues: .text,
        options: .broker + [
            .filter, OptionSyntax(name: "all", help: "send every dead letter, without a question"),
            .limit("send so many at most"),
            OptionSyntax(name: "rate", value: "N/s", help: "so many a second at most"),
            OptionSyntax(name: "dry-run", help: "only say what would be sent"),
            OptionSyntax(name: "to", value: "QUEUE", help: "to this queue; default that which it came from"),
            OptionSyntax(name: "reset-attempts", help: "count tries from 0 again"),
            .yes, .deliveryLimit, .json,
        ])

    let options: DeadLetterOptions

    init(_ parsed: ParsedArguments) throws(UsageError) { options = try DeadLetterOptions(.redrive, parsed) }

    func execute(_ task: DeadLetterTask, on loop: EpollLoop) async -> ExitCode {
        await DeadLetterRedrive.run(task, on: loop)
    }
}

/// Writes dead letters to a file.
struct DeadLettersExportCommand: MessageQueueCommand {
    static let syntax = CommandSyntax(
        path: ["dead-letters", "export"],
        summary: "Write dead letters to a file, and leave them where they are.",
        discussion: """
            One line of JSON for each: body, properties and headers, as `import` reads them. Whole device tokens and
            payloads are in it: the file is new and nobody else's (mode 0600). FILE may be - for standard output.

            \(DeadLettersText.filters)
            """,
        operands: "FILE",
        options: .broker + [.filter, .limit("so many at most"), .deliveryLimit, .json])

    let options: DeadLetterOptions

    init(_ parsed: ParsedArguments) throws(UsageError) { options = try DeadLetterOptions(.export, parsed) }

    func execute(_ task: DeadLetterTask, on loop: EpollLoop) async -> ExitCode {
        await DeadLetterExport(task).run(on: loop)
    }
}

/// Publishes the dead letters of a file.
struct DeadLettersImportCommand: MessageQueueCommand {
    static let syntax = CommandSyntax(
        path: ["dead-letters", "import"],
        summary: "Publish what a file holds that `export` or `drop` wrote: as dead letters again, or as requests.",
        discussion: """
            Bodies are the same byte for byte. Headers and properties are the same, but for an expiration, so that no
            dead letter runs out, the user's name, and what the broker counts; all are persistent. With --redrive they
            are checked and sent as requests, as `redrive` does: what a worker has had from that file already it does
            not push again. FILE may be - for standard input.
            An import that is cut off says up to which line it is done: go on behind that with --from-line, for from the
            start everything would be there twice.
            """,
        operands: "FILE",
        options: .broker + [
            OptionSyntax(name: "from-line", value: "N", help: "pass over the lines before this one; default 1"),
            OptionSyntax(name: "redrive", help: "to the queue of requests that each came from"),
            OptionSyntax(name: "to", value: "QUEUE", help: "with --redrive: to this queue"),
            OptionSyntax(name: "reset-attempts", help: "with --redrive: count tries from 0 again"),
            .json,
        ])

    let options: DeadLetterOptions

    init(_ parsed: ParsedArguments) throws(UsageError) { options = try DeadLetterOptions(.import, parsed) }

    func execute(_ task: DeadLetterTask, on loop: EpollLoop) async -> ExitCode {
        await DeadLetterImport(task, on: loop).run()
    }
}

/// Sends a dead letter with another body.
struct DeadLettersEditCommand: MessageQueueCommand {
    static let syntax = CommandSyntax(
        path: ["dead-letters", "edit"],
        summary: "Correct a dead letter's body in $EDITOR, and send it.",
        discussion: """
            The body is written to a file of mode 0600 and checked when the editor ends, as often as it takes. Then it is
            published like a redrive, with push-edited-from naming the dead letter, which is taken away. Nothing is
            held while the editor is open. Where several have that ID, none is edited until --where leaves one of them.
            Nothing is sent if the body is unchanged, except where only its content-encoding is wrong: the command asks
            whether to send the body without it, and --yes answers.

            \(DeadLettersText.filters)
            """,
        operands: "ID", operandValues: .text,
        options: .broker + [
            .filter,
            OptionSyntax(name: "to", value: "QUEUE", help: "to this queue; default that which it came from"),
            .yes, .deliveryLimit,
        ])

    let options: DeadLetterOptions

    init(_ parsed: ParsedArguments) throws(UsageError) { options = try DeadLetterOptions(.edit, parsed) }

    func execute(_ task: DeadLetterTask, on loop: EpollLoop) async -> ExitCode {
        await DeadLetterEdit(task).run(on: loop)
    }
}

/// Moves dead letters to a file.
struct DeadLettersDropCommand: MessageQueueCommand {
    static let syntax = CommandSyntax(
        path: ["dead-letters", "drop"],
        summary: "Take dead letters away, once they are in a file.",
        discussion: """
            Writes them as `export` does, asks, and only then takes them out of the queue. `import` brings them back.

            \(DeadLettersText.filters)
            """,
        operands: "[ID…]", operandValues: .text,
        options: .broker + [
            OptionSyntax(name: "export", value: "FILE", help: "the new file that they are written to"),
            .filter, .limit("so many at most"),
            .yes, .deliveryLimit, .json,
        ])

    let options: DeadLetterOptions

    init(_ parsed: ParsedArguments) throws(UsageError) { options = try DeadLetterOptions(.drop, parsed) }

    func execute(_ task: DeadLetterTask, on loop: EpollLoop) async -> ExitCode {
        await DeadLetterDrop(task).run(on: loop)
    }
}

/// Text of several commands.
private enum DeadLettersText {
    static let filters = """
        A filter compares id, class, code, app, schema, outcome, reason, path, queue, token, status, attempts, bytes, age,
        failed_at, header["x"] and body.a.b with ==, !=, <, <=, >, >=, contains, startsWith or in ["a", "b"], joined by &&, ||, ! and
        brackets: 'class == "apns" && code != "BadTopic" && age < 2h && body.push_type == "alert"'.
        """

    static let looking = """
        Looks at the queue of dead letters and leaves it as it is, in its order. Device tokens are shortened. At most
        \(DeadLetterScan.windowMax) are looked at, the oldest.

        \(filters)
        """
}
