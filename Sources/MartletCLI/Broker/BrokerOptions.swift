import CommandKit

/// The broker of a command, which works without a configuration file too.
struct BrokerOptions: Equatable, Sendable {
    var configPath: String?
    /// Without a configuration: the URL of the broker; may hold `${NAME}`.
    var url = "amqp://127.0.0.1:5672"
    /// Without a configuration: the first part of all names at the broker.
    var prefix = "push"
}

extension BrokerOptions {
    init(_ parsed: ParsedArguments) throws(UsageError) {
        self.init()
        configPath = parsed.options["config"]
        for name in ["url", "prefix"] where configPath != nil && parsed.has(name) {
            throw UsageError("option --\(name) does not go with --config, which says it already")
        }
        url = parsed.options["url"] ?? url
        prefix = parsed.options["prefix"] ?? prefix
    }
}
