import BrokerTopology

/// A topology that is shown or written, and for whom; nobody connects by it.
struct PrintedTopology: Sendable {
    /// Stands for a worker's user whom nobody names.
    static let defaultUser = "martlet"

    let topology: Topology
    let virtualHost: String
    /// A worker's; nil: the configuration says where the name stands, and it is not there on this machine.
    let user: String?
}

extension BrokerOptions {
    /// By the configuration file; without one in the virtual host that RabbitMQ begins with.
    func printedTopology() throws(ConfigurationError) -> PrintedTopology {
        if let configPath { return try ConfigurationFile(configPath).printedTopology() }
        return PrintedTopology(topology: try topology(), virtualHost: "/", user: PrintedTopology.defaultUser)
    }
}
