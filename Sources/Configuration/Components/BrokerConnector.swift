package import AMQP
package import BrokerTopology
package import Crypto
package import Delivery
package import EventLoop
import TLS
import Text

/// Settings for connections to the broker, with addresses, login, TLS, and the names of exchanges and queues.
package struct BrokerConnector: Sendable {
    /// Timeout for a command's connection to the broker.
    package static let connectDeadlineSeconds = 15

    package let names: TopologyNames
    package let endpoints: [Endpoint]
    private let connection: ConnectionConfiguration
    private let options: ConnectOptions
    private let tls: TLSContext?
    private let serverName: String?

    /// Derives the settings from the broker section of a configuration.
    ///
    /// - Throws: if a certificate or key is invalid, or if the authorities cannot be read.
    package init(_ broker: WorkerConfiguration.Broker) throws(CryptoError) {
        names = broker.names
        endpoints = broker.url.endpoints
        connection = broker.connection
        options = broker.socket ?? broker.url.connectOptions
        tls = broker.url.usesTLS ? try TLSContext(client: broker.tls) : nil
        serverName = broker.serverName
    }

    /// Returns the settings of a named connection.
    ///
    /// - Parameter name: the connection name that the broker's management shows.
    package func connection(named name: String) -> ConnectionConfiguration {
        var connection = connection
        connection.connectionName = name
        return connection
    }

    package var virtualHost: String { connection.virtualHost }

    /// The AMQP user of the connection. nil if the broker may derive the user from a certificate. Also nil if the name
    /// is empty or too long for a message property.
    package var user: String? { connection.userID }

    /// Returns the source that confirms the origin of a dead letter.
    package func provenance(of message: IncomingMessage) -> Provenance {
        Provenance(of: message, user: user, names: names)
    }

    /// Hosts, ports and virtual host, for messages to operators. The virtual host `/` is omitted.
    package var name: String { virtualHost == "/" ? place : "\(place)/\(virtualHost)" }

    package func connectors(on loop: EventLoop) -> [ByteConnector] {
        endpoints.map { endpoint in
            let tcp = ByteConnector(loop: loop, endpoint: endpoint, options: options)
            guard let tls else { return tcp }
            return TLSConnector(over: tcp, context: tls, serverName: serverName)
        }
    }

    /// Returns an administrative connection, which the caller starts and closes.
    ///
    /// - Parameter name: the connection name that the broker's management shows.
    package func admin(
        named name: String, on loop: EventLoop, deadlineSeconds: Int = connectDeadlineSeconds
    ) -> BrokerAdmin {
        BrokerAdmin(
            loop: loop, connectors: connectors(on: loop), connection: connection(named: name),
            deadlineSeconds: deadlineSeconds)
    }

    /// Hosts and ports, for messages to operators.
    package var place: String { endpoints.map(\.description).joined(separator: ", ") }

    /// Returns one line for an operator, with the address of the broker and the error.
    package func line(_ error: AMQPError) -> String {
        let isPlaced = endpoints.contains { error.message.contains($0.description) }
        return "martlet: \(isPlaced ? "" : "\(place): ")\(error.message)".printable
    }
}
