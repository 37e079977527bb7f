package import AMQP
package import APNS
package import BrokerTopology
import ControlProtocol
package import Crypto
package import Delivery
package import EventLoop

/// The values from which lanes create their objects, derived from a configuration.
package struct WorkerComponents: Sendable {
    package let configuration: WorkerConfiguration
    package let lane: LaneConfiguration
    package let laneConnectors: [LaneConnectors]
    package let brokerConnector: BrokerConnector
    /// The signing keys of provider tokens.
    package let keys: [ProviderKey]

    /// Reads certificates and prepares TLS, which can block. Do not call this initializer on a lane.
    ///
    /// - Throws: if a certificate or key is invalid, or if the authorities cannot be read.
    package init(_ configuration: WorkerConfiguration) throws(CryptoError) {
        self.configuration = configuration
        let pools = try ConnectionPools(configuration)
        keys = pools.keys
        brokerConnector = try BrokerConnector(configuration.broker)
        laneConnectors = try (0..<configuration.laneCount).map { _ throws(CryptoError) in
            try LaneConnectors(configuration, pools: pools.list)
        }
        var lane = LaneConfiguration(
            names: configuration.broker.names,
            broker: brokerConnector.connection(named: "martlet \(ProcessName.current)"),
            requestQueues: configuration.requestQueues, apps: pools.apps, pools: pools.list.map(\.configuration),
            worker: Self.worker)
        lane.laneCount = laneConnectors.count
        lane.version = MartletVersion.current
        lane.payloadSchemas = Self.payloadSchemas(configuration.payloadSchemas, configuration)
        lane.consumer.messageBytesMax = configuration.limits.messageBytesMax
        lane.consumer.bodyBytesInFlightMax = configuration.limits.bodiesInFlightBytesMax
        lane.publisher.messageBytesMax = max(lane.publisher.messageBytesMax, configuration.limits.messageBytesMax)
        lane.schedule = configuration.retry
        lane.resendsUnknown = configuration.resendsUnknown
        lane.hasRegistrations = configuration.registrations != nil
        lane.journal = configuration.journal
        self.lane = lane
    }

    package var topology: Topology { configuration.topology }

    /// Returns the payload schemas of the apps, compiled from another version of the schema files.
    package func payloadSchemas(_ files: PayloadSchemaFiles) -> PayloadSchemas {
        Self.payloadSchemas(files, configuration)
    }

    private static func payloadSchemas(_ files: PayloadSchemaFiles, _ configuration: WorkerConfiguration)
        -> PayloadSchemas
    {
        files.schemas(ofApps: configuration.apps.map(\.bundleID))
    }

    /// Returns a connection that serves commands.
    ///
    /// - Parameters:
    ///   - role: such as `channels consume`. The broker's management shows the role.
    ///   - heartbeatSecondsMax: the longest heartbeat interval; nil for the interval of the configuration.
    ///   - retrySecondsMax: the longest delay before an attempt to connect again; nil for the default.
    package func connection(
        for role: String, on loop: EventLoop, heartbeatSecondsMax: Int? = nil, retrySecondsMax: Int? = nil
    ) -> BrokerConnection {
        var configuration = brokerConnector.connection(
            named: "martlet \(ProcessName.current) \(role) \(MartletVersion.current)")
        if let limit = heartbeatSecondsMax {
            let seconds = configuration.heartbeatSeconds
            // Without a limit, an interval of 0 means no heartbeats.
            configuration.heartbeatSeconds = seconds == 0 ? limit : min(seconds, limit)
        }
        if let limit = retrySecondsMax { configuration.retryDelayMillisecondsMax = limit * 1000 }
        return BrokerConnection(
            loop: loop, connectors: brokerConnector.connectors(on: loop), configuration: configuration)
    }

    /// The host, process ID and version, by which operators identify the worker.
    private static var worker: String { "\(ProcessName.current)/\(MartletVersion.current)" }
}
