import CommandKit
import Configuration
import Text

/// The command that publishes files as requests.
struct PublishCommand: ConfiguredCommand {
    static let syntax = CommandSyntax(
        path: ["publish"],
        summary: "Publish files as requests, byte for byte.",
        discussion: """
            Wait for the broker's confirm of each request, and print its id and outcome. The message-id is the id in the
            body if there is one, otherwise a new UUID. With --wait, also wait for the results and print them as martlet
            watch does; the exit code is then 0 only if all requests were accepted. While results are missing, print
            causes that the broker and this user's workers on this machine report: no consumer, a pause, an open
            breaker. A worker does not push an accepted id again: --new-id gives each request a new id. Requests are
            published without validation; only unknown keys inside aps cause a warning on standard error.
            """,
        operands: "FILE…",
        options: .broker + [
            .json,
            OptionSyntax(name: "wait", help: "wait for the results and print them"),
            OptionSyntax(name: "new-id", help: "replace the id in the file with a new UUID"),
            OptionSyntax(name: "message-id", value: "ID", help: "message-id to use, for a single file"),
            OptionSyntax(
                name: "queue", value: "NAME",
                help: "request queue to publish to; required if the configuration has several"),
            OptionSyntax(
                name: "timeout", value: "SECONDS",
                help: "timeout for the broker, and for the results (default: \(Options.timeoutSecondsDefault))"),
        ])

    struct Options: Equatable, Sendable {
        var broker = BrokerOptions()
        /// The files that contain requests; `-` is standard input.
        var files: [String]
        var messageID: String?
        /// Whether a new id replaces the id in each file.
        var hasNewID = false
        /// The request queue to publish to; nil for the request exchange.
        var queue: String?
        /// Whether to wait for the results.
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
            throw UsageError("option --message-id requires a single file")
        }
        if messageID != nil, parsed.has("new-id") {
            throw UsageError("options --message-id and --new-id are mutually exclusive")
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
    /// Returns a command line with these options and a queue, for an operator to paste.
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
