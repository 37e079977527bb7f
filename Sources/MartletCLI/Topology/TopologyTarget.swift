import AMQP
import BrokerManagement
import BrokerTopology
import Configuration
import TLS

/// A topology and its broker.
struct TopologyTarget: Sendable {
    let connector: BrokerConnector
    let inspector: TopologyInspector
    /// The advice that completes the commands in remedies.
    var commands = CommandAdvice(BrokerOptions())

    /// Reads the configuration file or `--url`.
    ///
    /// - Throws: the mistakes in the file or the URL.
    init(_ broker: BrokerOptions) throws(ConfigurationError) {
        connector = try broker.connector()
        inspector = TopologyInspector(try broker.topology(), try broker.configuration())
        commands = CommandAdvice(broker)
    }

    init(connector: BrokerConnector, inspector: TopologyInspector) {
        self.connector = connector
        self.inspector = inspector
    }
}
