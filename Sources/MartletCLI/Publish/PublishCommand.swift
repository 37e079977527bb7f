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
            causes that the broker and this user's workers on this machine report, such as a pause or an open
            breaker. A worker does not push an accepted id again: --new-id gives each request a new id. Requests are
            published without validation; only unknown keys inside aps cause a warning on standard error. With --user or
            --user-file, the requests go to the registered devices of these users, whatever target the files name.
            """,
        operands: "FILE…",
        options: .broker + [
            .json,
            OptionSyntax(name: "wait", help: "wait for the results and print them"),
            OptionSyntax(name: "new-id", help: "new UUID instead of the id in each file"),
            OptionSyntax(name: "message-id", value: "ID", help: "message-id to use, for a single file"),
            .user("user whose devices receive the requests, instead of the target in the file"), .userFile,
            OptionSyntax(
                name: "scope", value: "SCOPE",
                help: "with --user or --user-file: scope of the registrations, such as an activity"),
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
        /// The users that replace the target of each file.
        var users = UserChoice.none
        /// The scope of the registrations of `users`; nil to keep the scope of the file.
        var scope: String?
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
        let users = try UserChoice(parsed, isRequired: false)
        if parsed.has("scope"), users == .none { throw UsageError("option --scope requires --user or --user-file") }
        if users.isStandardInput, parsed.operands.contains("-") {
            throw UsageError("options --user-file - and FILE - are mutually exclusive")
        }
        options = Options(
            broker: try BrokerOptions(parsed), files: parsed.operands, messageID: messageID,
            hasNewID: parsed.has("new-id"), queue: parsed.options["queue"], users: users,
            scope: parsed.options["scope"], waits: parsed.has("wait"),
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
        switch users {
        case .none: break
        case .user(let user): words.append("--user \(Shell.word(user))")
        case .file(let path): words.append("--user-file \(Shell.word(path))")
        }
        if let scope { words.append("--scope \(Shell.word(scope))") }
        if waits { words.append("--wait") }
        if timeoutSeconds != Self.timeoutSecondsDefault { words.append("--timeout \(timeoutSeconds)") }
        if isJSON { words.append("--json") }
        if files.contains(where: { $0.hasPrefix("-") && $0 != "-" }) { words.append("--") }
        return (words + files.map { Shell.word($0) }).joined(separator: " ")
    }
}
