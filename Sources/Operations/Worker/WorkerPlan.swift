import AMQP
import APNS
import APNSProtocol
import CLinux
import Crypto
import Delivery
import EventLoop
import Glibc
import TLS

/// A configuration turned into what lanes are made of. Values only: every lane makes its own objects from them.
struct WorkerPlan: Sendable {
    let lane: LaneConfiguration
    let lanes: Int
    private let configuration: Configuration

    /// - Throws: what is wrong with a key or a certificate.
    init(_ configuration: Configuration) throws(CryptoError) {
        self.configuration = configuration
        lanes = configuration.lanes ?? Processors.count
        let pools = try Pools(configuration)
        var lane = LaneConfiguration(
            names: configuration.broker.names,
            broker: try BrokerAccess(configuration.broker).connection(named: "martlet worker"),
            inFlightMax: configuration.limits.inFlightMax, apps: pools.apps, pools: pools.list, worker: Self.worker)
        lane.consumer.messageBytesMax = configuration.limits.messageBytesMax
        lane.consumer.bodyBytesInFlightMax = configuration.limits.bodiesInFlightBytesMax
        lane.publisher.messageBytesMax = max(lane.publisher.messageBytesMax, configuration.limits.messageBytesMax)
        lane.schedule = RetrySchedule(
            attemptsMax: configuration.retry.attemptsMax,
            bucket: RetryBucket(delaySeconds: configuration.retry.delaySeconds))
        lane.resendsUnknown = configuration.retry.resendsUnknown
        self.lane = lane
    }

    /// What one lane reaches the world by. Reads certificates and sets TLS up, so not on a lane.
    ///
    /// - Throws: what is wrong with a certificate.
    func access() throws(CryptoError) -> LaneAccess {
        try LaneAccess(configuration, pools: lane.pools)
    }

    /// Host, process and version, for operators.
    private static var worker: String {
        let host = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { name in
            name.initialize(repeating: 0)
            guard let start = name.baseAddress, gethostname(start, name.count - 1) == 0 else { return "-" }
            return String(cString: start)
        }
        return "\(host)/\(getpid())/\(MartletCommand.version)"
    }
}

/// The apps, and the connection pools that serve them: one for each key and environment.
private struct Pools {
    let apps: AppDirectory
    private(set) var list: [PoolConfiguration] = []

    init(_ configuration: Configuration) throws(CryptoError) {
        var pools: [(keyID: String, production: Int, sandbox: Int)] = []
        for key in configuration.apns.keys {
            pools.append((key.keyID, list.count, list.count + 1))
            for environment in [APNSEnvironment.production, .sandbox] {
                list.append(try Self.pool(key, environment, configuration.apns))
            }
        }
        apps = AppDirectory(
            configuration.apps.map { app in
                let pool = pools.first { $0.keyID == app.keyID }
                return AppDirectory.App(
                    bundleID: app.bundleID, defaultEnvironment: app.environment, productionPool: pool?.production,
                    sandboxPool: pool?.sandbox)
            })
    }

    private static func pool(
        _ key: Configuration.APNs.Key, _ environment: APNSEnvironment, _ apns: Configuration.APNs
    ) throws(CryptoError) -> PoolConfiguration {
        let endpoint = apns.server(of: environment).endpoint
        var pool = PoolConfiguration(
            environment: environment,
            key: try ProviderKey(privateKey: key.privateKey, keyID: key.keyID, teamID: key.teamID),
            // The port is left out where it is the scheme's own (RFC 9110, section 4.2.2).
            authority: endpoint.port == APNSEnvironment.pushPort ? endpoint.host : endpoint.description)
        pool.connectionsMax = apns.connectionsMax
        pool.requestTimeoutSeconds = Int64(apns.requestTimeoutSeconds)
        return pool
    }
}

/// Addresses and TLS of one lane. A lane has TLS contexts of its own, because lanes would contend for their counts.
struct LaneAccess: Sendable {
    private let broker: BrokerAccess
    /// One for each pool.
    private let apns: [(endpoint: Endpoint, context: TLSContext)]

    fileprivate init(_ configuration: Configuration, pools: [PoolConfiguration]) throws(CryptoError) {
        broker = try BrokerAccess(configuration.broker)
        var apns: [(endpoint: Endpoint, context: TLSContext)] = []
        let production = try Self.context(configuration.apns.production)
        let sandbox = try Self.context(configuration.apns.sandbox)
        for pool in pools {
            let context = pool.environment == .production ? production : sandbox
            apns.append((configuration.apns.server(of: pool.environment).endpoint, context))
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

extension Configuration.APNs {
    fileprivate func server(of environment: APNSEnvironment) -> Server {
        switch environment {
        case .production: production
        case .sandbox: sandbox
        }
    }
}
