package import BrokerTopology
package import ControlProtocol
package import EventLoop

/// The settings of a console: the section `console`, and the settings of the broker that the console needs. A console
/// needs no keys of APNs.
package struct ConsoleConfiguration: Sendable {
    package static let defaultEndpoint = Endpoint(host: "127.0.0.1", port: 9790)

    package enum Listener: Sendable, Equatable {
        case address(Endpoint)
        /// The path of a Unix socket.
        case socket(String)
    }

    /// The proxy that authenticates operators. It connects through the Unix socket.
    package struct Proxy: Sendable, Equatable {
        /// The name of the system user whose requests may carry the operator's name and groups.
        package var user: String
        /// The role of each group. Other groups have no role.
        package var groups: [String: OperatorRole]
    }

    package var listen = Listener.address(defaultEndpoint)
    /// Names that clients may use in the header `Host`, besides loopback names and the address.
    package var hostNames: [String] = []
    /// The highest role. Tokens, codes and groups of a higher role have this role.
    package var roleMax = OperatorRole.view
    /// The path of the file of personal tokens; nil if there are none.
    package var tokensFile: String?
    /// The folder of the files with dropped dead letters; nil if the console may drop none.
    package var exportFolder: String?
    package var proxy: Proxy?
    /// The path of the control socket, for `martlet console open`; nil for the default.
    package var socketPath: String?
    package var broker: WorkerConfiguration.Broker
    package var topology: Topology
    /// The settings of the history; nil without a journal.
    package var history: HistorySettings?
    /// The share of accepted results that workers write to the journal, from 0 to 1.
    package var acceptedShare = 1.0
    /// The rules by which requests are checked before they are sent, or the mistakes in their sections; nil to check
    /// only the contract.
    package var rules: Result<RequestRules, ConfigurationError>?

    package init(broker: WorkerConfiguration.Broker, topology: Topology) {
        self.broker = broker
        self.topology = topology
    }
}
