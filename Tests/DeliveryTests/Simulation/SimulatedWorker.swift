import AMQP
import APNS
import APNSProtocol
import Crypto
import EventLoop
import Telemetry

@testable import Delivery

/// A worker with one lane that can be killed: its connections end and it opens no others. What it had begun stays
/// unfinished.
final class SimulatedWorker {
    let lane: Lane
    private let network: Mortality

    static let broker = Endpoint(host: "broker", port: 5672)
    static let apns = Endpoint(host: "apns", port: 443)
    static let keyID = "SIMKEY0001"
    static let teamID = "SIMTEAM001"

    /// To be made on the loop's thread.
    init(loop: VirtualLoop, key: ES256PrivateKey, counters: LaneCounters, defects: LaneDefects) throws {
        let network = Mortality()
        self.network = network
        var pool = PoolConfiguration(
            environment: .sandbox, key: try ProviderKey(privateKey: key, keyID: Self.keyID, teamID: Self.teamID))
        pool.connectionsMax = 2
        var configuration = LaneConfiguration(
            broker: ConnectionConfiguration(credentials: AMQPCredentials(user: "guest", password: "guest")),
            inFlightMax: 100,
            apps: AppDirectory([
                AppDirectory.App(bundleID: "com.example.app", defaultEnvironment: .sandbox, sandboxPool: 0)
            ]),
            pools: [pool], worker: "simulated")
        configuration.schedule.attemptsMax = 50
        configuration.defects = defects
        func connector(_ endpoint: Endpoint) -> ByteConnector {
            MortalConnector(loop: loop, endpoint: endpoint, mortality: network)
        }
        lane = Lane(
            loop: loop, configuration: configuration,
            connectors: Lane.Connectors(
                consumer: [connector(Self.broker)], publisher: [connector(Self.broker)], apns: [connector(Self.apns)]),
            counters: counters, log: .silent)
        let lane = lane
        Task(executorPreference: loop) { await lane.start() }
    }

    func kill() {
        network.isDead = true
        for transport in network.transports { transport.reset() }
        network.transports = []
    }
}

/// Whether a worker's host is up.
private final class Mortality {
    var isDead = false
    var transports: [ByteTransport] = []
}

private final class MortalConnector: ByteConnector {
    private let mortality: Mortality

    init(loop: EventLoop, endpoint: Endpoint, mortality: Mortality) {
        self.mortality = mortality
        super.init(loop: loop, endpoint: endpoint)
    }

    override func connect(_ handler: ByteStreamHandler) -> ByteTransport {
        let place = mortality.isDead ? Endpoint(host: "nowhere", port: 1) : endpoint
        let transport = loop.connect(to: place, handler: handler)
        mortality.transports.append(transport)
        return transport
    }
}
