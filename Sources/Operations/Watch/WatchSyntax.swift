import Delivery

extension CommandSyntax {
    static let watch = CommandSyntax(
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
        options: [
            .config(), .url, .prefix, .json,
            OptionSyntax(name: "dead", help: "dead letters only"),
            OptionSyntax(name: "app", value: "APP", help: "of this bundle ID only; * stands for any characters"),
            OptionSyntax(
                name: "outcome", value: "OUTCOME", help: "\(outcomes.inARow("or")); several are allowed", isList: true,
                values: .words(outcomes)),
            OptionSyntax(name: "id", value: "ID", help: "of this notification only: its id, or its message-id"),
            OptionSyntax(name: "reveal", help: "with --json: do not shorten device tokens"),
            OptionSyntax(name: "count", value: "N", help: "end after N of them"),
            OptionSyntax(name: "timeout", value: "SECONDS", help: "end after so long; exit code 4 with --count"),
            OptionSyntax(name: "ready-file", value: "FILE", help: "create FILE when it is listening"),
        ])

    private static let outcomes = Outcome.allCases.map(\.rawValue)
}
