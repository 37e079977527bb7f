import CommandKit

/// Options of several commands.
extension OptionSyntax {
    static func config(isRequired: Bool = false) -> OptionSyntax {
        OptionSyntax(
            name: "config", value: "FILE", help: "the configuration file (YAML); \(DefaultConfiguration.help)",
            isRequired: isRequired)
    }
    static let json = OptionSyntax(name: "json", help: "print JSON lines")
    static let url = OptionSyntax(
        name: "url", value: "URL",
        help: "the broker, without --config; default amqp://127.0.0.1:5672; may hold ${NAME}",
        replacedDefault: "config")
    static let prefix = OptionSyntax(
        name: "prefix", value: "WORD", help: "first part of all names at the broker, without --config; default push",
        replacedDefault: "config")
    static let yes = OptionSyntax(name: "yes", help: "do not ask")
}

extension [OptionSyntax] {
    /// The broker; see ``BrokerOptions``.
    static let broker: [OptionSyntax] = [.config(), .url, .prefix]
}
