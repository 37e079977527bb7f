import APNS
import APNSProtocol
import Crypto
import Delivery
import EventLoop
import TLS

/// Addresses and TLS of one lane. A lane has TLS contexts of its own, because lanes would contend for their counts.
struct LaneAccess: Sendable {
    private let broker: BrokerAccess
    /// One for each pool.
    private let apns: [(endpoint: Endpoint, context: TLSContext)]

    init(_ configuration: Configuration, pools: [ConnectionPools.Pool]) throws(CryptoError) {
        broker = try BrokerAccess(configuration.broker)
        var apns: [(endpoint: Endpoint, context: TLSContext)] = []
        let production = try Self.context(configuration.apns.production)
        let sandbox = try Self.context(configuration.apns.sandbox)
        for pool in pools {
            apns.append((pool.endpoint, pool.configuration.environment == .production ? production : sandbox))
        }
        self.apns = apns
    }

    private static func context(_ server: Configuration.APNs.Server) throws(CryptoError) -> TLSContext {
        try TLSContext(
            client: TLSClientConfiguration(
                trust: server.trust, applicationProtocols: ["h2"], requiresApplicationProtocol: true))
    }

    /// To be called on the loop.
    func connectors(on loop: EventLoop) -> Lane.Connectors {
        Lane.Connectors(
            consumer: broker.connectors(on: loop), publisher: broker.connectors(on: loop),
            apns: apns.map { TLSConnector(loop: loop, endpoint: $0.endpoint, context: $0.context) })
    }
}
