import CommandKit
import DeadLetters

/// Options of the commands that act on messages of a queue.
extension OptionSyntax {
    static let filter = OptionSyntax(name: "where", value: "FILTER", help: "only those that it takes")
    static let reveal = OptionSyntax(name: "reveal", help: "show whole device tokens")
    static let deliveryLimit = OptionSyntax(
        name: "delivery-limit", value: "N|none",
        help: "of the queue; default what amqp.management_url shows, else \(DeadLetterOptions.deliveryLimitDefault), "
            + "which is RabbitMQ 4's")

    static func limit(_ text: String) -> OptionSyntax {
        OptionSyntax(name: "limit", value: "N", help: text)
    }

    /// - Parameter standard: the groups without this option.
    static func groupedBy(_ standard: String) -> OptionSyntax {
        OptionSyntax(name: "by", value: "KEYS", help: "of \(DeadLetterGroups.Key.list); default \(standard)")
    }
}

extension [OptionSyntax] {
    /// Options of the commands that publish messages again.
    ///
    /// - Parameter all: the help of `--all`.
    static func resending(_ all: String) -> [OptionSyntax] {
        [
            OptionSyntax(name: "all", help: all), .limit("so many at most"),
            OptionSyntax(name: "rate", value: "N/s", help: "so many a second at most"),
            OptionSyntax(name: "dry-run", help: "only count what would be published"), .yes,
        ]
    }
}
