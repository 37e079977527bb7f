import CommandKit

/// Options that several commands share.
extension OptionSyntax {
    static func config(isRequired: Bool = false) -> OptionSyntax {
        OptionSyntax(
            name: "config", value: "FILE", help: "configuration file (YAML; \(DefaultConfiguration.help))",
            isRequired: isRequired)
    }
    static let json = OptionSyntax(name: "json", help: "print JSON, one object per line")
    static let url = OptionSyntax(
        name: "url", value: "URL",
        help: "broker URL, instead of --config; may contain ${NAME} (default: amqp://127.0.0.1:5672)",
        replacedDefault: "config")
    static let prefix = OptionSyntax(
        name: "prefix", value: "WORD",
        help: "prefix of all names at the broker, instead of --config (default: push)",
        replacedDefault: "config")
    static let yes = OptionSyntax(name: "yes", help: "do not ask for confirmation")
}

extension [OptionSyntax] {
    /// Options of ``BrokerOptions``.
    static let broker: [OptionSyntax] = [.config(), .url, .prefix]
}
