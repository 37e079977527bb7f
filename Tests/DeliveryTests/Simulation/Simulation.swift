import AMQP
import APNSProtocol
import APNSSimulator
import Crypto
import EventLoop
import Telemetry
import TestKit

@testable import Delivery

/// One run: a seed decides messages, times, pieces, delays, cuts, crashes and all else.
struct Simulation {
    static let messageCount = 300
    static let cutsMin = 10
    /// Virtual time within which all must have been told.
    static let limit = Duration.seconds(3600)

    let seed: UInt64
    var defects = LaneDefects()

    /// What is known when the run has ended.
    struct Report {
        var ending = VirtualLoop.Ending.idle
        var history: UInt64 = 0
        var cuts = 0
        var kills = 0
        var pushes: [UUIDValue: [Push]] = [:]
        var messages: [SimulatedMessage] = []
        var results: [ScriptedMessage] = []
        var deadLetters: [ScriptedMessage] = []
        var unfinished = 0
        var dropped = 0
    }

    /// A request that APNs saw whole.
    struct Push {
        var payload: [UInt8]
        var status: Int
    }

    func run() throws -> Report {
        let world = try SimulatedWorld(seed: seed, defects: defects)
        return world.run()
    }
}

/// Worker, broker and APNs of one run, and what happens to them.
final class SimulatedWorld {
    private let loop: VirtualLoop
    private let broker: ScriptedBroker
    private let apns: SimulatorServer
    private let key: ES256PrivateKey
    private let counters = LaneCounters(MetricsRegistry())
    private let defects: LaneDefects
    /// The newest is the one that lives.
    private var workers: [SimulatedWorker] = []
    private var random: SeededRandom
    private var report = Simulation.Report()
    private var published = 0
    private let names = TopologyNames()

    init(seed: UInt64, defects: LaneDefects) throws {
        random = SeededRandom(seed: seed &* 0x2545_f491_4f6c_dd1d)
        loop = VirtualLoop(seed: seed)
        self.defects = defects
        key = try ES256PrivateKey(pem: Self.keyPEM)
        var behaviour = ScriptedBrokerBehaviour()
        behaviour.confirmDelayMilliseconds = 0...random.below(30)
        behaviour.nackPercent = random.below(3)
        behaviour.returnPercent = random.below(2)
        var configuration = SimulatorConfiguration()
        configuration.answerDelay = .milliseconds(random.below(200))
        var state = SimulatorState()
        state.rules.streamsMax = 20 + random.below(100)
        state.add(
            RegisteredKey(id: SimulatedWorker.keyID, teamID: SimulatedWorker.teamID, publicKey: try key.publicKey()))
        state.addApp(bundleID: "com.example.app", teamID: SimulatedWorker.teamID)
        state.deviceRules = [
            DeviceRule(prefix: "dead", condition: .unregistered(sinceMilliseconds: 1_700_000_000_123)),
            DeviceRule(prefix: "bad0", condition: .bad),
        ]
        state.unknownDevices = .active
        broker = loop.enter { [loop] in
            ScriptedBroker(loop: loop, endpoint: SimulatedWorker.broker, seed: seed, behaviour: behaviour)
        }
        apns = loop.enter { [loop] in SimulatorServer(loop: loop, configuration: configuration, state: state) }
        report.messages = (0..<Simulation.messageCount).map { SimulatedMessage(number: $0, random: &random) }
    }

    func run() -> Simulation.Report {
        loop.enter { begin() }
        report.ending = loop.run(limit: Simulation.limit) { [self] in isFinished }
        report.history = loop.network.history.value
        report.results = Array(broker.queue(names.resultsQueue)?.ready ?? [])
        report.deadLetters = Array(broker.queue(names.deadQueue)?.ready ?? [])
        report.unfinished = remaining
        report.dropped = broker.dropped.count
        let report = report
        end()
        return report
    }

    /// Lets all lanes end, those of killed workers too: tasks that wait for ever would keep them, and the next seed
    /// wants their memory.
    private func end() {
        let ended = Ended()
        for lane in workers.map(\.lane) {
            Task(executorPreference: loop) {
                _ = await lane.drain(deadlineSeconds: 1)
                ended.count += 1
            }
        }
        _ = loop.run(limit: .seconds(60)) { ended.count == workers.count }
        loop.end()
    }

    /// `@unchecked Sendable`: touched on the one thread that runs the loop.
    private final class Ended: @unchecked Sendable {
        var count = 0
    }

    private func begin() {
        loop.network.onConnect = { [unowned self] connection in
            connection.onDelivery = { [unowned self, unowned connection] direction, bytes in
                mayCut(connection, bytes, direction)
            }
        }
        apns.memory.onRequest = { [unowned self] request, payload in
            guard let id = request.apnsID else { return }
            report.pushes[id, default: []].append(
                Simulation.Push(payload: Array(payload), status: request.status ?? 0))
        }
        Topology().declare(at: broker)
        start()
        for message in report.messages {
            for _ in 0..<message.copies {
                loop.schedule(after: .milliseconds(message.publishedAfterMilliseconds + random.below(50))) {
                    [unowned self] in publish(message)
                }
            }
        }
        disturb()
    }

    private func start() {
        do {
            try broker.start()
            try apns.listen(on: SimulatedWorker.apns, as: .sandboxPush)
            workers.append(try SimulatedWorker(loop: loop, key: key, counters: counters, defects: defects))
        } catch {
            preconditionFailure("the simulated world does not start: \(error)")
        }
    }

    private func publish(_ message: SimulatedMessage) {
        published += 1
        broker.publish(
            exchange: names.requestsExchange, routingKey: "any", messageID: message.id.description, body: message.body)
    }

    /// Cuts a connection in the midst of a piece, while deliveries are outstanding.
    private func mayCut(_ connection: VirtualConnection, _ bytes: Int, _ direction: VirtualConnection.Direction) {
        guard let queue = broker.queue(names.requestsQueue), queue.unsettled > 0, report.cuts < 40 else { return }
        let percent = report.cuts < Simulation.cutsMin ? 4 : 1
        guard random.chance(percent: percent) else { return }
        report.cuts += 1
        connection.cut(after: random.below(bytes), direction)
    }

    /// Once or twice a run each: the worker dies and another starts, the broker closes or restarts, APNs says GOAWAY.
    private func disturb() {
        for _ in 0...random.below(2) { later { $0.replaceWorker() } }
        for _ in 0..<random.below(2) { later { $0.broker.closeConnections() } }
        for _ in 0..<random.below(2) { later { $0.restartBroker() } }
        for _ in 0..<random.below(3) { later { $0.restartAPNS() } }
    }

    private func later(_ action: @escaping (SimulatedWorld) -> Void) {
        loop.schedule(after: .milliseconds(500 + random.below(20_000))) { [unowned self] in action(self) }
    }

    private func replaceWorker() {
        report.kills += 1
        workers.last?.kill()
        if let worker = try? SimulatedWorker(loop: loop, key: key, counters: counters, defects: defects) {
            workers.append(worker)
        }
    }

    private func restartBroker() {
        broker.crash()
        loop.schedule(after: .seconds(2)) { [unowned self] in try? broker.start() }
    }

    /// Away for a moment, or for longer than a push waits for a connection.
    private func restartAPNS() {
        apns.shutDown()
        loop.schedule(after: .seconds(random.chance(percent: 50) ? 1 : 60)) { [unowned self] in
            _ = try? apns.listen(on: SimulatedWorker.apns, as: .sandboxPush)
        }
    }

    private var remaining: Int {
        [names.requestsQueue, names.retryQueue(.default)].compactMap { broker.queue($0) }
            .reduce(0) { $0 + $1.ready.count + $1.unsettled }
    }

    private var isFinished: Bool {
        published >= report.messages.reduce(0) { $0 + $1.copies } && remaining == 0
    }

    /// Made for this simulation alone; it guards nothing.
    private static let keyPEM = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgLJ1wGlh6o8xExcXA
        PGb9DBd8NwkXRG32OgsGqX4WysmhRANCAAQ+5k98gHNZTvOKvh+eI2laqEyGWEgI
        Bjbssm0C7yBfX3ABODetdjXzGoDIWnmY7aq5yJ5w8wJ9osRKjaiK8ufu
        -----END PRIVATE KEY-----
        """
}

extension Topology {
    /// What `martlet topology apply` does at a real broker.
    func declare(at broker: ScriptedBroker) {
        for exchange in exchanges {
            let kind: ExchangeKind =
                switch exchange.kind {
                case .direct: .direct
                case .topic: .topic
                case .fanout: .fanout
                }
            broker.declareExchange(exchange.name, kind, arguments: Self.table(exchange.arguments))
        }
        for queue in queues { broker.declareQueue(queue.name, arguments: Self.table(queue.arguments)) }
        for binding in bindings {
            broker.bindQueue(binding.queue, toExchange: binding.exchange, routingKey: binding.routingKey)
        }
    }

    private static func table(_ arguments: [Argument]) -> FieldTable {
        FieldTable(
            arguments.map { argument in
                switch argument.value {
                case .text(let text): FieldTable.Entry(argument.name, .string(text))
                case .integer(let number): FieldTable.Entry(argument.name, .integer(number))
                }
            })
    }
}
