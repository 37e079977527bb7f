import AMQP
import BrokerManagement
import BrokerTopology
import TLS

/// A topology, and the broker to which it belongs.
struct TopologyTarget: Sendable {
    let access: BrokerAccess
    let inspector: TopologyInspector
    /// Completes the commands in a remedy.
    var commands = CommandAdvice(BrokerOptions())

    /// Reads the configuration file or `--url`.
    ///
    /// - Throws: the mistakes in either.
    init(_ broker: BrokerOptions) throws(ConfigurationError) {
        access = try broker.access()
        inspector = TopologyInspector(try broker.topology(), try broker.configuration())
        commands = CommandAdvice(broker)
    }

    init(access: BrokerAccess, inspector: TopologyInspector) {
        self.access = access
        self.inspector = inspector
    }
}

extension TopologyInspector {
    init(_ topology: Topology, _ broker: Configuration.Broker) {
        self.init(topology, management: ManagementAccess(broker), virtualHost: broker.url.virtualHost)
    }
}

extension ManagementAccess {
    /// nil if the configuration does not name the management API.
    init?(_ broker: Configuration.Broker) {
        guard let url = broker.management else { return nil }
        let authorities: String?
        if case .pem(let text) = broker.tls.trust { authorities = text } else { authorities = nil }
        self.init(url: url, virtualHost: broker.url.virtualHost, authoritiesPEM: authorities)
    }
}
