import BrokerTopology
import CommandKit
import Configuration
import Delivery
import Text

/// The command that prints results and dead letters as they are published.
struct WatchCommand: ConfiguredCommand {
    static let syntax = CommandSyntax(
        path: ["watch"],
        summary: "Print results, reports, registration events and dead letters as they are published.",
        discussion: """
            The command consumes copies from a temporary queue, so that consumers of results miss nothing. Messages
            published before the command reports that it is listening may be missing. Several filters must all match.
            AGE is the time since the outcome was determined, or since the request was dead-lettered. A reason is
            printed on a separate line. On a terminal, q quits. On a narrow terminal, columns are shortened or omitted;
            in a pipe or file, nothing is cut. With --json, print one line per message: the columns, and the message
            with its properties, headers and body. A body that is not JSON is encoded in base64.
            """,
        options: .broker + [
            .json,
            OptionSyntax(name: "dead", help: "only dead letters"),
            OptionSyntax(name: "app", value: "APP", help: "only this bundle ID; * matches any characters"),
            OptionSyntax(
                name: "outcome", value: "OUTCOME", help: "\(outcomes.enumerated(with: "or")); repeatable",
                repetition: .list, values: .words(outcomes)),
            OptionSyntax(name: "id", value: "ID", help: "only messages of the request with this id or message-id"),
            OptionSyntax(name: "reveal", help: "with --json: print complete device tokens"),
            OptionSyntax(name: "count", value: "N", help: "exit after N messages"),
            OptionSyntax(name: "timeout", value: "SECONDS", help: "exit after SECONDS; with --count: exit code 4"),
            OptionSyntax(name: "ready-file", value: "FILE", help: "create FILE when listening"),
        ])

    private static let outcomes = Outcome.allCases.map(\.rawValue)

    struct Options: Equatable, Sendable {
        var broker = BrokerOptions()
        var isJSON = false
        var filter = WatchFilter()
        /// Whether to print complete device tokens.
        var revealsTokens = false
        /// The number of messages after which the command ends; nil for no limit.
        var count: Int?
        /// The time after which the command ends; nil for no limit.
        var timeoutSeconds: Int?
        /// The file to create once the command is listening.
        var readyFile: String?
    }

    let options: Options

    init(_ parsed: ParsedArguments) throws(UsageError) {
        if parsed.has("reveal"), !parsed.has("json") { throw UsageError("option --reveal requires --json") }
        options = Options(
            broker: try BrokerOptions(parsed), isJSON: parsed.has("json"), filter: WatchFilter(parsed),
            revealsTokens: parsed.has("reveal"), count: try parsed.integer("count", upTo: .max),
            timeoutSeconds: try parsed.integer("timeout", upTo: 31_536_000), readyFile: parsed.options["ready-file"])
    }

    func execute() throws(ConfigurationError) -> ExitCode {
        let connector = try options.broker.connector()
        return CommandLoop.run { await WatchSession(loop: $0, connector: connector, options: options).run() }
    }
}
