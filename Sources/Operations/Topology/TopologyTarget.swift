import AMQP
import Delivery
import EventLoop

/// A topology, and the broker where it is to be.
struct TopologyTarget: Sendable {
    let access: BrokerAccess
    let topology: Topology
    /// nil when the configuration does not say where it is.
    let management: ManagementAccess?
    let virtualHost: String
    /// Completes what an operator is advised to run.
    var commands = CommandAdvice(BrokerOptions())

    /// By the configuration file or by `--url`.
    ///
    /// - Throws: what is wrong with either.
    init(_ broker: BrokerOptions) throws(ConfigurationError) {
        access = try broker.access()
        topology = try broker.topology()
        let configuration = try broker.configuration()
        management = ManagementAccess(configuration)
        virtualHost = configuration.url.virtualHost
        commands = CommandAdvice(broker)
    }

    init(access: BrokerAccess, topology: Topology, management: ManagementAccess?, virtualHost: String) {
        self.access = access
        self.topology = topology
        self.management = management
        self.virtualHost = virtualHost
    }

    var advice: TopologyAdvice { TopologyAdvice(virtualHost: virtualHost) }
}
