import AMQP
import APNS
import APNSProtocol
import Crypto
import EventLoop
import Telemetry
import TestKit

@testable import Delivery

/// A worker of two lanes that share a memory of duplicates. A killed worker loses its connections and opens no others,
/// and its deliveries stay unfinished.
final class SimulatedWorker {
    static let lanes = 2

    /// The index of the worker's place.
    let place: Int
    /// The number of the worker, which distinguishes it from its predecessors in the same place.
    let number: Int
    let lanes: [Lane]
    private let loop: VirtualLoop
    private let host = SimulatedHost()
    /// The worker's connections to the store.
    let storeClient = SimulatedStore.Client()
    /// The consumer of registration commands; nil for a seed without registrations.
    private let consumer: RegistrationConsumer?
    /// Whether `drain` has been called, also to free the memory of a killed worker.
    private(set) var isEnding = false
    private(set) var isDraining = false
    var isDead: Bool { !host.isUp }

    /// Creates and starts the worker. Call it on the loop's thread.
    init(place: Int, number: Int, in world: SimulatedWorld) throws {
        (self.place, self.number, loop) = (place, number, world.loop)
        let (loop, host, network) = (world.loop, host, world.network)
        let configuration = try Self.configuration(place: place, world.settings)
        func connector(
            _ endpoint: Endpoint, _ state: @escaping () -> SimulatedNetwork.State = { .open }
        ) -> ByteConnector {
            SimulatedConnector(loop: loop, endpoint: endpoint, host: host, state: state)
        }
        let (duplicates, registrations, client) = (DuplicateMemory(), world.registrations, storeClient)
        lanes = (0..<Self.lanes).map { number in
            var configuration = configuration
            configuration.number = number
            // Used only on the thread that runs the loop.
            nonisolated(unsafe) let reader = registrations?.store.reader(of: client)
            return Lane(
                loop: loop, configuration: configuration,
                connectors: Lane.Connectors(
                    consumer: [connector(SimulatedNetwork.broker)], publisher: [connector(SimulatedNetwork.broker)],
                    apns: configuration.pools.map { pool in
                        connector(SimulatedNetwork.apns(pool.environment, worker: place)) {
                            network.state(to: pool.environment)
                        }
                    }),
                counters: world.counters, duplicates: duplicates, log: .silent,
                registrations: reader)
        }
        consumer = registrations.map { registrations in
            func connection() -> BrokerConnection {
                BrokerConnection(
                    loop: loop, connectors: [connector(SimulatedNetwork.broker)], configuration: configuration.broker)
            }
            return RegistrationConsumer(
                consuming: connection(), publishing: connection(),
                writer: registrations.store.writer(of: client), names: configuration.names, replyPrefix: nil,
                devicesPerUserMax: SimulatedPopulation.devicesPerUserMax, metrics: world.counters.registry,
                log: .silent, worker: configuration.worker, environment: { _, environment in environment ?? .sandbox })
        }
        consumer?.start()
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
        configuration.hasRegistrations = settings.hasRegistrations
        configuration.schedule.attemptsMax = 50
        configuration.schedule.holdSecondsMax = settings.holdSecondsMax
        return configuration
    }

    /// Disconnects the worker. A drain must follow to free its memory.
    func kill() {
        host.kill()
        storeClient.kill()
    }

    func reaches(_ endpoint: Endpoint) -> Bool {
        APNSEnvironment.allCases.contains { SimulatedNetwork.apns($0, worker: place) == endpoint }
    }

    /// Drains the worker as after SIGTERM.
    func drain(deadlineSeconds: Int, _ done: @escaping () -> Void) {
        isEnding = true
        isDraining = !isDead
        let ended = Ended(count: lanes.count + (consumer == nil ? 0 : 1), done)
        if let consumer {
            Task(executorPreference: loop) {
                await consumer.close(deadlineSeconds: deadlineSeconds)
                ended.one()
            }
        }
        for lane in lanes {
            Task(executorPreference: loop) {
                _ = await lane.drain(deadlineSeconds: deadlineSeconds)
                ended.one()
            }
        }
    }

    /// A countdown that calls a closure when the last part of the worker has drained.
    ///
    /// `@unchecked Sendable`: used only on the thread that runs the loop.
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
