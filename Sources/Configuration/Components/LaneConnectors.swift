import APNS
import APNSProtocol
package import Crypto
package import Delivery
package import EventLoop
package import TLS

/// Addresses and TLS contexts of one lane. Lanes share no TLS context, because they would contend for the context's
/// reference count.
package struct LaneConnectors: Sendable {
    private let broker: BrokerConnector
    /// The connector and TLS context of each pool.
    private let apns: [(connector: APNSConnector, context: TLSContext)]

    package init(_ configuration: WorkerConfiguration, pools: [ConnectionPools.Pool]) throws(CryptoError) {
        broker = try BrokerConnector(configuration.broker)
        let production = try TLSTrustStore(configuration.apns.production.trust)
        let sandbox = try TLSTrustStore(configuration.apns.sandbox.trust)
        // Pools without a certificate share one context for each environment.
        let byToken = try (Self.context(nil, production), Self.context(nil, sandbox))
        var apns: [(connector: APNSConnector, context: TLSContext)] = []
        for pool in pools {
            let isProduction = pool.configuration.environment == .production
            let context =
                try pool.identity.map { identity throws(CryptoError) in
                    try Self.context(identity, isProduction ? production : sandbox)
                } ?? (isProduction ? byToken.0 : byToken.1)
            apns.append((try APNSConnector(to: pool.endpoint, configuration.apns), context))
        }
        self.apns = apns
    }

    package static func context(
        _ identity: TLSIdentity?, _ trust: TLSTrustStore
    ) throws(CryptoError) -> TLSContext {
        try TLSContext(
            client: TLSClientConfiguration(
                identity: identity, applicationProtocols: ["h2"], requiresApplicationProtocol: true),
            trust: trust)
    }

    /// Returns the connectors of a lane. Call this function on the loop.
    package func connectors(on loop: EventLoop) -> Lane.Connectors {
        Lane.Connectors(
            consumer: broker.connectors(on: loop), publisher: broker.connectors(on: loop),
            apns: apns.map { TLSConnector(over: $0.connector.byteConnector(on: loop), context: $0.context) })
    }
}
