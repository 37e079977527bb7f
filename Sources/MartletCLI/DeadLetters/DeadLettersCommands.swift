import CommandKit
import DeadLetters
import Delivery
import EventLoop

/// The command that counts dead letters in groups.
struct DeadLettersStatsCommand: MessageQueueCommand {
    static let syntax = CommandSyntax(
        path: ["dead-letters", "stats"],
        summary: "Count dead letters in groups, largest first.",
        discussion: DeadLettersText.scanning,
        options: .broker + [.groupedBy("class,code,app"), .filter, .deliveryLimit, .json])

    let options: DeadLetterOptions

    init(_ parsed: ParsedArguments) throws(UsageError) { options = try DeadLetterOptions(.stats, parsed) }

    func execute(_ task: DeadLetterTask, on loop: EpollLoop) async -> ExitCode {
        await DeadLetterStats(task).run(on: loop)
    }
}

struct DeadLettersListCommand: MessageQueueCommand {
    static let syntax = CommandSyntax(
        path: ["dead-letters", "list"],
        summary: "List dead letters, oldest first.",
        discussion: DeadLettersText.scanning,
        options: .broker + [
            .filter, .limit("maximum number of dead letters (default: \(DeadLetterOptions.listedDefault))"), .reveal,
            .deliveryLimit,
            .json,
        ])

    let options: DeadLetterOptions

    init(_ parsed: ParsedArguments) throws(UsageError) { options = try DeadLetterOptions(.list, parsed) }

    func execute(_ task: DeadLetterTask, on loop: EpollLoop) async -> ExitCode {
        await DeadLetterList(task).run(on: loop)
    }
}

/// The command that shows complete dead letters.
struct DeadLettersShowCommand: MessageQueueCommand {
    static let syntax = CommandSyntax(
        path: ["dead-letters", "show"],
        summary: "Show complete dead letters: reason, headers, body.",
        discussion: """
            Of dead letters with the same ID, class, code, path, outcome and body, print the first and count the others.
            With --json, print every dead letter.
            """,
        operands: "ID…", operandValues: .text,
        options: .broker + [.reveal, .deliveryLimit, .json])

    let options: DeadLetterOptions

    init(_ parsed: ParsedArguments) throws(UsageError) { options = try DeadLetterOptions(.show, parsed) }

    func execute(_ task: DeadLetterTask, on loop: EpollLoop) async -> ExitCode {
        await DeadLetterShow(task).run(on: loop)
    }
}

/// The command that sends dead letters as requests.
struct DeadLettersRedriveCommand: MessageQueueCommand {
    static let syntax = CommandSyntax(
        path: ["dead-letters", "redrive"],
        summary: "Send dead letters to their request queues again.",
        discussion: """
            With IDs, send only dead letters with one of these IDs; with --where, only dead letters that match; with
            --all, every dead letter. Without ID, --where and --limit, ask for confirmation on a terminal after a dry
            run; elsewhere and with --json, require --all or --yes. Start with --dry-run, then with --limit 10. A dead
            letter that a worker would refuse stays in the queue and is counted. The others are published, and removed
            once the broker has confirmed them. The command may be stopped at any time and run again: a worker does not
            push a duplicate again. Dead letters that do not match stay in the queue, in their order. Without
            --reset-attempts, a request without attempts left gets one more attempt.

            \(DeadLettersText.filters)
            """,
        operands: "[ID…]", operandValues: .text,
        options: .broker + [
            .filter, OptionSyntax(name: "all", help: "send every dead letter without asking for confirmation"),
            .limit("maximum number of dead letters to send"),
            OptionSyntax(name: "rate", value: "N/s", help: "maximum number of messages per second"),
            OptionSyntax(name: "dry-run", help: "only print what would be sent"),
            OptionSyntax(name: "to", value: "QUEUE", help: "destination queue (default: the original request queue)"),
            OptionSyntax(name: "reset-attempts", help: "reset attempts to 0"),
            .yes, .deliveryLimit, .json,
        ])

    let options: DeadLetterOptions

    init(_ parsed: ParsedArguments) throws(UsageError) { options = try DeadLetterOptions(.redrive, parsed) }

    func execute(_ task: DeadLetterTask, on loop: EpollLoop) async -> ExitCode {
        await DeadLetterRedrive.run(task, on: loop)
    }
}

struct DeadLettersExportCommand: MessageQueueCommand {
    static let syntax = CommandSyntax(
        path: ["dead-letters", "export"],
        summary: "Write dead letters to a file without removing them.",
        discussion: """
            Write one line of JSON per dead letter: body, properties and headers, in the format of `import`. The file
            contains whole device tokens and payloads. FILE must be a new file, which gets mode 0600, or - for standard
            output.

            \(DeadLettersText.filters)
            """,
        operands: "FILE",
        options: .broker + [.filter, .limit("maximum number of dead letters"), .deliveryLimit, .json])

    let options: DeadLetterOptions

    init(_ parsed: ParsedArguments) throws(UsageError) { options = try DeadLetterOptions(.export, parsed) }

    func execute(_ task: DeadLetterTask, on loop: EpollLoop) async -> ExitCode {
        await DeadLetterExport(task).run(on: loop)
    }
}

/// The command that publishes the dead letters of a file.
struct DeadLettersImportCommand: MessageQueueCommand {
    static let syntax = CommandSyntax(
        path: ["dead-letters", "import"],
        summary: "Publish the dead letters in a file of `export` or `drop`, as dead letters or as requests.",
        discussion: """
            Bodies are preserved byte for byte. Headers and properties are preserved, except the expiration, the user
            ID, CC, BCC and the broker's counters. All messages are persistent. With --redrive, messages are checked
            and sent as requests, as by `redrive`. A worker does not push a duplicate again. FILE may be - for standard
            input.
            An interrupted import prints the last line that it completed. Continue after that line with --from-line;
            importing from the first line would publish messages twice.
            """,
        operands: "FILE",
        options: .broker + [
            OptionSyntax(name: "from-line", value: "N", help: "first line to import (default: 1)"),
            OptionSyntax(name: "redrive", help: "send each dead letter to its original request queue"),
            OptionSyntax(name: "to", value: "QUEUE", help: "with --redrive: destination queue"),
            OptionSyntax(name: "reset-attempts", help: "with --redrive: reset attempts to 0"),
            .json,
        ])

    let options: DeadLetterOptions

    init(_ parsed: ParsedArguments) throws(UsageError) { options = try DeadLetterOptions(.import, parsed) }

    func execute(_ task: DeadLetterTask, on loop: EpollLoop) async -> ExitCode {
        await DeadLetterImport(task, on: loop).run()
    }
}

/// The command that corrects a dead letter in an editor, and sends it as a request.
struct DeadLettersEditCommand: MessageQueueCommand {
    static let syntax = CommandSyntax(
        path: ["dead-letters", "edit"],
        summary: "Edit the body of a dead letter and send the request.",
        discussion: """
            Write the body to a file of mode 0600, run $VISUAL, $EDITOR or vi, and check the result. If the body is
            invalid, ask whether to edit again. Then publish the body as `redrive --reset-attempts` does, with the dead
            letter's ID in push-edited-from, and remove the dead letter. No message is unacknowledged while the editor
            is open. If several dead letters have the ID, choose a dead letter with --where. An unchanged body is not
            sent. If only the content-encoding is wrong, ask whether to send the body without it; --yes answers yes.

            \(DeadLettersText.filters)
            """,
        operands: "ID", operandValues: .text,
        options: .broker + [
            .filter,
            OptionSyntax(name: "to", value: "QUEUE", help: "destination queue (default: the original request queue)"),
            .yes, .deliveryLimit,
        ])

    let options: DeadLetterOptions

    init(_ parsed: ParsedArguments) throws(UsageError) { options = try DeadLetterOptions(.edit, parsed) }

    func execute(_ task: DeadLetterTask, on loop: EpollLoop) async -> ExitCode {
        await DeadLetterEdit(task).run(on: loop)
    }
}

/// The command that moves dead letters to a file.
struct DeadLettersDropCommand: MessageQueueCommand {
    static let syntax = CommandSyntax(
        path: ["dead-letters", "drop"],
        summary: "Remove dead letters after writing them to a file.",
        discussion: """
            Write the dead letters as `export` does, ask for confirmation, then remove them from the queue. `import`
            restores the dead letters.

            \(DeadLettersText.filters)
            """,
        operands: "[ID…]", operandValues: .text,
        options: .broker + [
            OptionSyntax(name: "export", value: "FILE", help: "new file for the dead letters"),
            .filter, .limit("maximum number of dead letters"),
            .yes, .deliveryLimit, .json,
        ])

    let options: DeadLetterOptions

    init(_ parsed: ParsedArguments) throws(UsageError) { options = try DeadLetterOptions(.drop, parsed) }

    func execute(_ task: DeadLetterTask, on loop: EpollLoop) async -> ExitCode {
        await DeadLetterDrop(task).run(on: loop)
    }
}

/// Help texts that several commands share.
private enum DeadLettersText {
    static let filters = """
        A filter compares id, class, code, app, schema, outcome, reason, path, queue, token, status, attempts, bytes, age,
        failed_at, header["x"] and body.a.b by ==, !=, <, <=, >, >=, contains, startsWith or in ["a", "b"]. Combine
        comparisons with &&, ||, ! and parentheses:
        'class == "apns" && code != "BadTopic" && age < 2h && body.push_type == "alert"'.
        """

    static let scanning = """
        The queue is scanned without removing or reordering messages. Device tokens are shortened. At most the
        \(DeadLetterScan.windowMax) oldest messages are read.

        \(filters)
        """
}
