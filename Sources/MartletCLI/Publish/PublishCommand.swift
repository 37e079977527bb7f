import CommandKit
import Configuration
import Text

/// Publishes files as requests.
struct PublishCommand: ConfiguredCommand {
    static let syntax = CommandSyntax(
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
        options: .broker + [
            .json,
            OptionSyntax(name: "wait", help: "wait for the results, and show them"),
            OptionSyntax(name: "new-id", help: "put a new id in the place of the file's own"),
            OptionSyntax(name: "message-id", value: "ID", help: "this message-id; for a single file"),
            OptionSyntax(
                name: "queue", value: "NAME", help: "straight to this queue; needed where the file has several"),
            OptionSyntax(
                name: "timeout", value: "SECONDS",
                help: "give up after so long, broker and results each; default \(Options.timeoutSecondsDefault)"),
        ])

    struct Options: Equatable, Sendable {
        var broker = BrokerOptions()
        /// `-` is standard input.
        var files: [String]
        var messageID: String?
        /// Whether each file's own id gives way to a new one.
        var hasNewID = false
        /// nil: the exchange of requests.
        var queue: String?
        /// Whether the results are awaited.
        var waits = false
        var isJSON = false
        static let timeoutSecondsDefault = 30
        var timeoutSeconds = timeoutSecondsDefault
    }

    private static let messageIDBytesMax = 255

    let options: Options

    init(_ parsed: ParsedArguments) throws(UsageError) {
        let messageID = parsed.options["message-id"]
        if messageID != nil, parsed.operands.count > 1 {
            throw UsageError("option --message-id goes with one file only")
        }
        if messageID != nil, parsed.has("new-id") {
            throw UsageError("options --message-id and --new-id exclude each other")
        }
        if let messageID, messageID.utf8.count > Self.messageIDBytesMax {
            throw UsageError("option --message-id is longer than \(Self.messageIDBytesMax) bytes")
        }
        options = Options(
            broker: try BrokerOptions(parsed), files: parsed.operands, messageID: messageID,
            hasNewID: parsed.has("new-id"), queue: parsed.options["queue"], waits: parsed.has("wait"),
            isJSON: parsed.has("json"),
            timeoutSeconds: try parsed.integer("timeout", upTo: 86_400) ?? Options.timeoutSecondsDefault)
    }

    func execute() throws(ConfigurationError) -> ExitCode {
        PublishSession(connector: try options.broker.connector(), options: options).run()
    }
}

extension PublishCommand.Options {
    /// The command line of these options with a queue, for an operator to paste.
    func command(_ commands: CommandAdvice, queue: String) -> String {
        var words = [commands.completed("martlet publish"), "--queue \(Shell.word(queue))"]
        if let messageID { words.append("--message-id \(Shell.word(DeadLetterText.operand(messageID)))") }
        if hasNewID { words.append("--new-id") }
        if waits { words.append("--wait") }
        if timeoutSeconds != Self.timeoutSecondsDefault { words.append("--timeout \(timeoutSeconds)") }
        if isJSON { words.append("--json") }
        if files.contains(where: { $0.hasPrefix("-") && $0 != "-" }) { words.append("--") }
        return (words + files.map { Shell.word($0) }).joined(separator: " ")
    }
}
