package import AMQP
package import BrokerTopology
package import Crypto
package import Delivery
package import EventLoop
import TLS
import Text

/// How to reach the broker: addresses, login and TLS, and what everything there is called.
package struct BrokerConnector: Sendable {
    /// For the connection of a command.
    package static let connectDeadlineSeconds = 15

    package let names: TopologyNames
    package let endpoints: [Endpoint]
    private let connection: ConnectionConfiguration
    private let options: ConnectOptions
    private let tls: TLSContext?
    private let serverName: String?

    /// - Throws: what is wrong with a certificate.
    package init(_ broker: WorkerConfiguration.Broker) throws(CryptoError) {
        names = broker.names
        endpoints = broker.url.endpoints
        var connection = ConnectionConfiguration(broker.url)
        if let seconds = broker.heartbeatSeconds { connection.heartbeatSeconds = seconds }
        connection.prefersCertificate = broker.prefersCertificate
        self.connection = connection
        options = broker.socket ?? broker.url.connectOptions
        tls = broker.url.usesTLS ? try TLSContext(client: broker.tls) : nil
        serverName = broker.serverName
    }

    /// - Parameter name: what the broker's management shows.
    package func connection(named name: String) -> ConnectionConfiguration {
        var connection = connection
        connection.connectionName = name
        return connection
    }

    package var virtualHost: String { connection.virtualHost }

    /// The AMQP user that it logs in as; nil where only the broker knows it.
    package var user: String? { connection.userID }

    /// The source that confirms the origin of a dead letter.
    package func provenance(of message: IncomingMessage) -> Provenance {
        Provenance(of: message, user: user, names: names)
    }

    /// For people: where it is, and which of its virtual hosts it is.
    package var name: String { virtualHost == "/" ? place : "\(place)/\(virtualHost)" }

    package func connectors(on loop: EventLoop) -> [ByteConnector] {
        endpoints.map { endpoint in
            let tcp = ByteConnector(loop: loop, endpoint: endpoint, options: options)
            guard let tls else { return tcp }
            return TLSConnector(over: tcp, context: tls, serverName: serverName)
        }
    }

    /// To be started, and closed, by the caller.
    ///
    /// - Parameter name: what the broker's management shows.
    package func admin(
        named name: String, on loop: EventLoop, deadlineSeconds: Int = connectDeadlineSeconds
    ) -> BrokerAdmin {
        BrokerAdmin(
            loop: loop, connectors: connectors(on: loop), connection: connection(named: name),
            deadlineSeconds: deadlineSeconds)
    }

    /// Hosts and ports, for messages.
    package var place: String { endpoints.map(\.description).joined(separator: ", ") }

    /// One line for an operator: which broker, and what it or the way to it says.
    package func line(_ error: AMQPError) -> String {
        let isPlaced = endpoints.contains { error.message.contains($0.description) }
        return "martlet: \(isPlaced ? "" : "\(place): ")\(error.message)".printable
    }
}
