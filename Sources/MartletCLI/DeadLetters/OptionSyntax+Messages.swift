import CommandKit
import DeadLetters

/// Options of the commands that act on messages of a queue.
extension OptionSyntax {
    static let filter = OptionSyntax(name: "where", value: "FILTER", help: "only messages that match")
    static let reveal = OptionSyntax(name: "reveal", help: "show complete device tokens")
    static let deliveryLimit = OptionSyntax(
        name: "delivery-limit", value: "N|none",
        help: "delivery limit of the queue (default: the limit from the management API, if "
            + "amqp.management_url is set; else \(DeadLetterOptions.deliveryLimitDefault), as in RabbitMQ 4)")

    static func limit(_ text: String) -> OptionSyntax {
        OptionSyntax(name: "limit", value: "N", help: text)
    }

    /// Returns the option that determines the groups.
    ///
    /// - Parameter standard: the default groups.
    static func groupedBy(_ standard: String) -> OptionSyntax {
        OptionSyntax(
            name: "by", value: "KEYS",
            help: "comma-separated keys of the groups: \(DeadLetterGroups.Key.list) (default: \(standard))")
    }
}

extension [OptionSyntax] {
    /// Returns the options of the commands that publish messages again.
    ///
    /// - Parameter all: the help of `--all`.
    static func resending(_ all: String) -> [OptionSyntax] {
        [
            OptionSyntax(name: "all", help: all), .limit("maximum number of messages"),
            OptionSyntax(name: "rate", value: "N/s", help: "maximum number of messages per second"),
            OptionSyntax(name: "dry-run", help: "count the messages without publishing them"), .yes,
        ]
    }
}
