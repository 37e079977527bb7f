package import BrokerTopology

/// A topology to print, with its virtual host and user. No connection is made with these values.
package struct PrintedTopology: Sendable {
    /// The worker's user without a configuration file, or if ``user`` is nil.
    package static let defaultUser = "martlet"

    package let topology: Topology
    package let virtualHost: String
    /// The worker's user; nil if the configuration refers to a name that is not available on this machine.
    package let user: String?

    package init(topology: Topology, virtualHost: String, user: String?) {
        self.topology = topology
        self.virtualHost = virtualHost
        self.user = user
    }
}
