import AMQP
import APNS
import BrokerTopology
import Crypto
import Delivery
import EventLoop
import Glibc

/// The components of lanes that a configuration describes. All are values: each lane makes its own objects from them.
struct WorkerComponents: Sendable {
    let configuration: Configuration
    let lane: LaneConfiguration
    /// One for each lane.
    let laneConnectors: [LaneConnectors]
    let brokerAccess: BrokerAccess
    /// Sign provider tokens.
    let keys: [ProviderKey]

    /// Reads certificates and prepares TLS, which can block. Do not call it on a lane.
    ///
    /// - Throws: if a key or certificate is invalid.
    init(_ configuration: Configuration) throws(CryptoError) {
        self.configuration = configuration
        let pools = try ConnectionPools(configuration)
        keys = pools.keys
        brokerAccess = try BrokerAccess(configuration.broker)
        laneConnectors = try (0..<(configuration.lanes ?? Processors.count)).map { _ throws(CryptoError) in
            try LaneConnectors(configuration, pools: pools.list)
        }
        var lane = LaneConfiguration(
            names: configuration.broker.names,
            broker: brokerAccess.connection(named: "martlet \(Self.process)"),
            requestQueues: configuration.requestQueues, apps: pools.apps, pools: pools.list.map(\.configuration),
            worker: Self.worker)
        lane.laneCount = laneConnectors.count
        lane.version = MartletProgram.version
        lane.payloadSchemas = Self.payloadSchemas(configuration.payloadSchemas, configuration)
        lane.consumer.messageBytesMax = configuration.limits.messageBytesMax
        lane.consumer.bodyBytesInFlightMax = configuration.limits.bodiesInFlightBytesMax
        lane.publisher.messageBytesMax = max(lane.publisher.messageBytesMax, configuration.limits.messageBytesMax)
        lane.schedule = configuration.retry
        lane.resendsUnknown = configuration.resendsUnknown
        self.lane = lane
    }

    /// The exchanges and queues that lanes need.
    var topology: Topology {
        Configuration.topology(
            configuration.broker, configuration.retry, configuration.results, configuration.channels)
    }

    /// Returns the payload schemas of another version of their files.
    func payloadSchemas(_ files: PayloadSchemaFiles) -> PayloadSchemas { Self.payloadSchemas(files, configuration) }

    private static func payloadSchemas(_ files: PayloadSchemaFiles, _ configuration: Configuration) -> PayloadSchemas {
        files.schemas(ofApps: configuration.apps.map(\.bundleID))
    }

    /// Returns a connection that serves channel commands.
    ///
    /// - Parameter role: `consume` or `publish`. The broker's management shows it.
    func channelsConnection(for role: String, on loop: EventLoop) -> BrokerConnection {
        BrokerConnection(
            loop: loop, connectors: brokerAccess.connectors(on: loop),
            configuration: brokerAccess.connection(
                named: "martlet \(Self.process) channels \(role) \(MartletProgram.version)"))
    }

    /// Host, process ID and version, for operators.
    private static var worker: String { "\(process)/\(MartletProgram.version)" }

    private static var process: String {
        let host = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { name in
            name.initialize(repeating: 0)
            guard let start = name.baseAddress, gethostname(start, name.count - 1) == 0 else { return "-" }
            return String(cString: start)
        }
        return "\(host)/\(getpid())"
    }
}
