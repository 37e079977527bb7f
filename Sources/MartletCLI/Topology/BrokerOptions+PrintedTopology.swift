import Configuration

extension BrokerOptions {
    /// Returns the topology of the configuration file; without one, in RabbitMQ's default virtual host.
    func printedTopology() throws(ConfigurationError) -> PrintedTopology {
        if let configPath { return try ConfigurationFile(configPath).printedTopology() }
        return PrintedTopology(topology: try topology(), virtualHost: "/", user: PrintedTopology.defaultUser)
    }
}
