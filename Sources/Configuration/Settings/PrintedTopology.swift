package import BrokerTopology

/// A topology that is shown or written, and for whom; nobody connects by it.
package struct PrintedTopology: Sendable {
    /// Stands for a worker's user whom nobody names.
    package static let defaultUser = "martlet"

    package let topology: Topology
    package let virtualHost: String
    /// A worker's; nil: the configuration says where the name stands, and it is not there on this machine.
    package let user: String?

    package init(topology: Topology, virtualHost: String, user: String?) {
        self.topology = topology
        self.virtualHost = virtualHost
        self.user = user
    }
}
