import CommandKit

/// The broker of a command, from a configuration file or from `--url` and `--prefix`.
struct BrokerOptions: Equatable, Sendable {
    var configPath: String?
    /// The URL of the broker if no configuration file is used. The URL may contain `${NAME}`.
    var url = "amqp://127.0.0.1:5672"
    /// The prefix of all names at the broker if no configuration file is used.
    var prefix = "push"
}

extension BrokerOptions {
    init(_ parsed: ParsedArguments) throws(UsageError) {
        self.init()
        configPath = parsed.options["config"]
        for name in ["url", "prefix"] where configPath != nil && parsed.has(name) {
            throw UsageError("options --\(name) and --config are mutually exclusive")
        }
        url = parsed.options["url"] ?? url
        prefix = parsed.options["prefix"] ?? prefix
    }
}
