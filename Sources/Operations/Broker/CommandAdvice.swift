import Text

/// Completes commands in a remedy with the options of this invocation, so that a pasted command works as it stands.
struct CommandAdvice: Sendable, Equatable {
    private let ofBroker: String
    private let ofTopologyPrint: String
    /// Of commands that need a configuration file.
    private let ofFile: String

    init(_ broker: BrokerOptions) {
        let standard = BrokerOptions()
        let prefix = broker.prefix == standard.prefix ? "" : " --prefix \(Shell.word(broker.prefix))"
        if let path = broker.configPath {
            ofFile = " --config \(Shell.word(path))"
            (ofBroker, ofTopologyPrint) = (ofFile, ofFile)
        } else {
            // It may hold a password.
            let url = broker.url.contains("@") ? "URL" : Shell.word(broker.url)
            ofBroker = (broker.url == standard.url ? "" : " --url \(url)") + prefix
            (ofTopologyPrint, ofFile) = (prefix, " --config FILE")
        }
    }

    init(configPath: String) { self.init(BrokerOptions(configPath: configPath)) }

    func completed(_ text: String) -> String {
        let commands = [
            ("martlet topology apply", ofBroker), ("martlet topology check", ofBroker),
            ("martlet topology print", ofTopologyPrint), ("martlet publish", ofBroker),
            ("martlet dead-letters redrive", ofBroker), ("martlet dead-letters import", ofBroker),
            ("martlet dead-letters edit", ofBroker),
            ("martlet unrouted replay", ofBroker), ("martlet waits bring-back", ofBroker),
            ("martlet worker", ofFile), ("martlet doctor", ofFile),
            ("martlet config check", ofFile.replacing(" --config", with: "")),
        ]
        return commands.reduce(text) { $0.replacing($1.0, with: $1.0 + $1.1) }
    }
}
