import AMQP
package import BrokerManagement
package import BrokerTopology
import TLS

extension TopologyInspector {
    package init(_ topology: Topology, _ broker: WorkerConfiguration.Broker) {
        self.init(topology, management: ManagementAccess(broker), virtualHost: broker.url.virtualHost)
    }
}

extension ManagementAccess {
    /// Creates the access that the configuration describes. Returns nil if the configuration does not name the
    /// management API.
    package init?(_ broker: WorkerConfiguration.Broker) {
        guard let url = broker.management else { return nil }
        let authorities: String?
        if case .pem(let text) = broker.tls.trust { authorities = text } else { authorities = nil }
        self.init(url: url, virtualHost: broker.url.virtualHost, authoritiesPEM: authorities)
    }
}
