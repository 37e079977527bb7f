import Configuration

extension BrokerOptions {
    /// By the configuration file; without one in the virtual host that RabbitMQ begins with.
    func printedTopology() throws(ConfigurationError) -> PrintedTopology {
        if let configPath { return try ConfigurationFile(configPath).printedTopology() }
        return PrintedTopology(topology: try topology(), virtualHost: "/", user: PrintedTopology.defaultUser)
    }
}
