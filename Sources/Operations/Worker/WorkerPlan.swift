import AMQP
import APNS
import CLinux
import Crypto
import Delivery
import EventLoop
import Glibc

/// A configuration turned into what lanes are made of. Values only: every lane makes its own objects from them.
struct WorkerPlan: Sendable {
    let configuration: Configuration
    let lane: LaneConfiguration
    /// By lane: what it reaches the world by.
    let access: [LaneAccess]
    let brokerAccess: BrokerAccess
    /// What provider tokens are signed with.
    let keys: [ProviderKey]

    /// Reads certificates and sets TLS up, so not on a lane.
    ///
    /// - Throws: what is wrong with a key or a certificate.
    init(_ configuration: Configuration) throws(CryptoError) {
        self.configuration = configuration
        let pools = try ConnectionPools(configuration)
        keys = pools.keys
        brokerAccess = try BrokerAccess(configuration.broker)
        access = try (0..<(configuration.lanes ?? Processors.count)).map { _ throws(CryptoError) in
            try LaneAccess(configuration, pools: pools.list)
        }
        var lane = LaneConfiguration(
            names: configuration.broker.names,
            broker: brokerAccess.connection(named: "martlet \(Self.process)"),
            requestQueues: configuration.requestQueues, apps: pools.apps, pools: pools.list.map(\.configuration),
            worker: Self.worker)
        lane.laneCount = access.count
        lane.version = MartletProgram.version
        lane.payloadSchemas = Self.payloadSchemas(configuration.payloadSchemas, configuration)
        lane.consumer.messageBytesMax = configuration.limits.messageBytesMax
        lane.consumer.bodyBytesInFlightMax = configuration.limits.bodiesInFlightBytesMax
        lane.publisher.messageBytesMax = max(lane.publisher.messageBytesMax, configuration.limits.messageBytesMax)
        lane.schedule = configuration.retry
        lane.resendsUnknown = configuration.resendsUnknown
        self.lane = lane
    }

    /// What lanes need at the broker.
    var topology: Topology {
        Configuration.topology(
            configuration.broker, configuration.retry, configuration.results, configuration.channels)
    }

    /// The payload schemas in another version of their files.
    func payloadSchemas(_ files: PayloadSchemaFiles) -> PayloadSchemas { Self.payloadSchemas(files, configuration) }

    private static func payloadSchemas(_ files: PayloadSchemaFiles, _ configuration: Configuration) -> PayloadSchemas {
        files.schemas(ofApps: configuration.apps.map(\.bundleID))
    }

    /// For commands for broadcast channels.
    ///
    /// - Parameter role: `consume` or `publish`, which the broker's management shows.
    func channelsConnection(for role: String, on loop: EventLoop) -> BrokerConnection {
        BrokerConnection(
            loop: loop, connectors: brokerAccess.connectors(on: loop),
            configuration: brokerAccess.connection(
                named: "martlet \(Self.process) channels \(role) \(MartletProgram.version)"))
    }

    /// Host, process and version, for operators.
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
