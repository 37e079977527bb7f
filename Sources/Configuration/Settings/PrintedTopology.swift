package import BrokerTopology

/// A topology to print, with its virtual host and user. Not used for connections.
package struct PrintedTopology: Sendable {
    /// The worker's user if the configuration names none.
    package static let defaultUser = "martlet"

    package let topology: Topology
    package let virtualHost: String
    /// The worker's user; nil: the configuration refers to a name that is not available on this machine.
    package let user: String?

    package init(topology: Topology, virtualHost: String, user: String?) {
        self.topology = topology
        self.virtualHost = virtualHost
        self.user = user
    }
}
