import AMQP
import APNS
import APNSProtocol
import Crypto
import EventLoop
import Telemetry

@testable import Delivery

/// A worker of two lanes, which share what the process remembers, that can be killed: its connections end and it opens
/// no others. What it had begun stays unfinished.
final class SimulatedWorker {
    static let lanes = 2

    /// Which of the workers' places it has.
    let place: Int
    /// Tells it from those that had its place before.
    let number: Int
    let lanes: [Lane]
    private let loop: VirtualLoop
    private let host = SimulatedHost()
    /// Its memory is being freed, after its death or because it was told to end.
    private(set) var isEnding = false
    private(set) var isDraining = false
    var isDead: Bool { !host.isUp }

    /// To be made on the loop's thread.
    init(place: Int, number: Int, in world: SimulatedWorld) throws {
        (self.place, self.number, loop) = (place, number, world.loop)
        let (loop, host, network) = (world.loop, host, world.network)
        let configuration = try Self.configuration(place: place, world.settings)
        func connector(
            _ endpoint: Endpoint, _ way: @escaping () -> SimulatedNetwork.Way = { .open }
        ) -> ByteConnector {
            SimulatedConnector(loop: loop, endpoint: endpoint, host: host, way: way)
        }
        let duplicates = DuplicateMemory()
        lanes = (0..<Self.lanes).map { number in
            var configuration = configuration
            configuration.number = number
            return Lane(
                loop: loop, configuration: configuration,
                connectors: Lane.Connectors(
                    consumer: [connector(SimulatedNetwork.broker)], publisher: [connector(SimulatedNetwork.broker)],
                    apns: configuration.pools.map { pool in
                        connector(SimulatedNetwork.apns(pool.environment, worker: place)) {
                            network.way(to: pool.environment)
                        }
                    }),
                counters: world.counters, duplicates: duplicates, log: .silent)
        }
        for lane in lanes { Task(executorPreference: loop) { await lane.start() } }
    }

    private static func configuration(place: Int, _ settings: SimulatedSettings) throws -> LaneConfiguration {
        guard let key = SimulatedApps.privateKey else { throw SimulatedKeyMissing() }
        var pools: [PoolConfiguration] = []
        for number in 0..<SimulatedApps.keyCount {
            let key = try ProviderKey(
                privateKey: key, keyID: SimulatedApps.keyID(number), teamID: SimulatedApps.teamID(number))
            for environment in [APNSEnvironment.production, .sandbox] {
                var pool = PoolConfiguration(environment: environment, key: key)
                pool.connectionsMax = settings.connectionsMax
                pools.append(pool)
            }
        }
        var configuration = LaneConfiguration(
            broker: ConnectionConfiguration(credentials: AMQPCredentials(user: "guest", password: "guest")),
            inFlightMax: settings.prefetch, apps: SimulatedApps.directory(limits: settings.limits), pools: pools,
            worker: "worker\(place)")
        configuration.laneCount = lanes
        configuration.schedule.attemptsMax = 50
        configuration.schedule.holdSecondsMax = settings.holdSecondsMax
        return configuration
    }

    /// To be drained as well, which frees its memory: nothing of it reaches the world any more.
    func kill() { host.kill() }

    func reaches(_ endpoint: Endpoint) -> Bool {
        APNSEnvironment.allCases.contains { SimulatedNetwork.apns($0, worker: place) == endpoint }
    }

    /// As after SIGTERM.
    func drain(deadlineSeconds: Int, _ done: @escaping () -> Void) {
        isEnding = true
        isDraining = !isDead
        let ended = Ended(count: lanes.count, done)
        for lane in lanes {
            Task(executorPreference: loop) {
                _ = await lane.drain(deadlineSeconds: deadlineSeconds)
                ended.one()
            }
        }
    }

    /// `@unchecked Sendable`: touched on the one thread that runs the loop.
    private final class Ended: @unchecked Sendable {
        private var count: Int
        private let done: () -> Void

        init(count: Int, _ done: @escaping () -> Void) {
            (self.count, self.done) = (count, done)
        }

        func one() {
            count -= 1
            if count == 0 { done() }
        }
    }
}

private struct SimulatedKeyMissing: Error {}
