import Configuration

extension BrokerOptions {
    /// Returns the topology of the configuration file. Without a file, returns a topology in RabbitMQ's default
    /// virtual host.
    func printedTopology() throws(ConfigurationError) -> PrintedTopology {
        if let configPath { return try ConfigurationFile(configPath).printedTopology() }
        return PrintedTopology(topology: try topology(), virtualHost: "/", user: PrintedTopology.defaultUser)
    }
}
