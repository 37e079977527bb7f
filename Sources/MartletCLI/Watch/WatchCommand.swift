import BrokerTopology
import CommandKit
import Configuration
import Delivery

/// Shows results and dead letters as they are published.
struct WatchCommand: ConfiguredCommand {
    static let syntax = CommandSyntax(
        path: ["watch"],
        summary: "Show results and dead letters as they come.",
        discussion: """
            Listens with queues of its own, which end with it: consumers of results miss nothing. Only what is published
            after it says that it is listening is seen; of several filters all must hold. AGE is the time since the result
            or dead letter was published. The reason in a sentence, if there is one, is a line of its own. On a terminal q
            ends it. A terminal that is too narrow gets fewer and narrower columns; in a pipe or a file nothing is cut. With
            --json a line for each: what the columns say, and the message itself with its properties, headers and body; of
            a body that is not JSON the base64.
            """,
        options: .broker + [
            .json,
            OptionSyntax(name: "dead", help: "dead letters only"),
            OptionSyntax(name: "app", value: "APP", help: "of this bundle ID only; * stands for any characters"),
            OptionSyntax(
                name: "outcome", value: "OUTCOME", help: "\(outcomes.enumerated(with: "or")); several are allowed",
                repetition: .list, values: .words(outcomes)),
            OptionSyntax(name: "id", value: "ID", help: "of this notification only: its id, or its message-id"),
            OptionSyntax(name: "reveal", help: "with --json: do not shorten device tokens"),
            OptionSyntax(name: "count", value: "N", help: "end after N of them"),
            OptionSyntax(name: "timeout", value: "SECONDS", help: "end after so long; exit code 4 with --count"),
            OptionSyntax(name: "ready-file", value: "FILE", help: "create FILE when it is listening"),
        ])

    private static let outcomes = Outcome.allCases.map(\.rawValue)

    struct Options: Equatable, Sendable {
        var broker = BrokerOptions()
        var isJSON = false
        var filter = WatchFilter()
        /// Whether device tokens are shown whole.
        var revealsTokens = false
        /// The number of messages after which the command ends; nil: no limit.
        var count: Int?
        /// The time after which the command ends; nil: no limit.
        var timeoutSeconds: Int?
        /// Created once everything published from now on will be seen.
        var readyFile: String?
    }

    let options: Options

    init(_ parsed: ParsedArguments) throws(UsageError) {
        if parsed.has("reveal"), !parsed.has("json") { throw UsageError("option --reveal goes with --json") }
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
