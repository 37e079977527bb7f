import AMQP
import APNS
import APNSProtocol
import APNSSimulator
import CValgrind
import Crypto
import Delivery
import EventLoop
import Telemetry
import TestKit

/// A lane between a scripted broker and a simulated APNs, on virtual time. Run in callgrind, which is to begin without
/// collecting, it has what the lane does collected, once it is warm, and nothing else: what it counts for Prometheus, and
/// one question for all of that, included.
///
/// What is left out beside the peers: the kernel, TLS, and the threads of a worker's process.
final class CountedLane {
    private static let broker = Endpoint(host: "broker", port: 5672)
    private static let apns = Endpoint(host: "apns", port: 443)
    private static let teamID = "DEMOTEAM01"
    /// How long APNs takes to answer.
    private static let answerMilliseconds = 5
    /// Virtual time in which all is done.
    private static let limit = Duration.seconds(600)

    private let options: InstructionOptions
    private let loop = VirtualLoop(seed: 1)
    private let lane: GuestLoop
    private let topology = Topology()
    private var results = 0
    private var isCollecting = false
    private let metrics = MetricsRegistry()
    private let apps: [(bundleID: String, keyID: String)]
    private var asked: Lane?

    init(_ options: InstructionOptions) {
        self.options = options
        apps = (0..<options.apps).map { ("com.example.\(100 + $0)", "DEMOKEY\(100 + $0)") }
        lane = GuestLoop(on: loop)
        loop.network.wholePiecesPercent = 100
    }

    /// - Throws: when not every message ends as one result.
    func run() throws {
        guard let key = KnownProviderKey.privateKey else { throw ProcessError("the key cannot be read") }
        lane.onSwitch = { [unowned self] _ in if isCollecting { martlet_callgrind_toggle_collect() } }
        let broker = loop.enter { ScriptedBroker(loop: loop, endpoint: Self.broker) }
        let apns = try makeAPNs(key)
        try loop.enter {
            topology.declare(at: broker)
            broker.onAppend = { [unowned self] queue, _ in
                if queue.name == topology.names.resultsQueue { countResult() }
            }
            try broker.start()
            try apns.listen(on: Self.apns, as: .productionPush)
            fill(broker)
            let lane = try makeLane(key)
            asked = lane
            Task(executorPreference: self.lane) { await lane.start() }
        }
        let ending = loop.run(limit: Self.limit) { results >= options.warmUp + options.messages }
        guard ending == .done else { throw ProcessError("\(results) results were published: \(ending)") }
    }

    private func makeAPNs(_ key: ES256PrivateKey) throws -> SimulatorServer {
        var configuration = SimulatorConfiguration()
        configuration.answerDelay = .milliseconds(Self.answerMilliseconds)
        configuration.requestsLoggedMax = 0
        configuration.idsRememberedMax = 1000
        var state = SimulatorState()
        for app in apps {
            state.add(RegisteredKey(id: app.keyID, teamID: Self.teamID, publicKey: try key.publicKey()))
            state.addApp(bundleID: app.bundleID, teamID: Self.teamID)
        }
        state.unknownDevices = .active
        return loop.enter { SimulatorServer(loop: loop, configuration: configuration, state: state) }
    }

    /// More than are counted: the lane is as busy at the end as before.
    private func fill(_ broker: ScriptedBroker) {
        let template = BenchMessage(round: 0)
        for number in 0..<(options.warmUp + options.messages + options.inFlight) {
            let message = template.message(
                number, app: apps[number % apps.count].bundleID, queue: topology.names.requestQueues[0])
            broker.publish(routingKey: message.routingKey, messageID: message.messageID, body: message.body)
        }
    }

    private func makeLane(_ key: ES256PrivateKey) throws -> Lane {
        let keys = try apps.map { try ProviderKey(privateKey: key, keyID: $0.keyID, teamID: Self.teamID) }
        let directory = apps.enumerated().map { pool, app in
            AppDirectory.App(bundleID: app.bundleID, defaultEnvironment: .production, production: .init(pool))
        }
        let configuration = LaneConfiguration(
            broker: ConnectionConfiguration(credentials: AMQPCredentials(user: "guest", password: "guest")),
            inFlightMax: options.inFlight, apps: AppDirectory(directory),
            pools: keys.map { PoolConfiguration(environment: .production, key: $0) }, worker: "host/1/0.0.0")
        let (toBroker, toAPNs) = (
            ByteConnector(loop: lane, endpoint: Self.broker), ByteConnector(loop: lane, endpoint: Self.apns)
        )
        return Lane(
            loop: lane, configuration: configuration,
            connectors: Lane.Connectors(consumer: [toBroker], publisher: [toBroker], apns: keys.map { _ in toAPNs }),
            tokens: Dictionary(uniqueKeysWithValues: keys.map { (Credential.key($0).name, supply(of: $0)) }),
            counters: LaneCounters(metrics), copies: CopyMemory(), log: .silent)
    }

    /// Signed elsewhere, as in a worker.
    private func supply(of key: ProviderKey) -> TokenSupply {
        var tokens = TokenSource(key: key)
        _ = tokens.renew(loop.now, random: loop.nextRandom)
        guard let first = tokens.newest else { preconditionFailure("no provider token was signed") }
        return TokenSupply(first: first) { _ in }
    }

    /// As the admin endpoint does; a Prometheus that asks once in 15 s does so for far more messages.
    private func askForMetrics() {
        guard let asked else { return }
        Task(executorPreference: lane) { [metrics] in
            _ = await asked.status()
            _ = metrics.render()
        }
    }

    private func countResult() {
        results += 1
        if results == options.warmUp { isCollecting = true }
        if results == options.warmUp + options.messages / 2 { askForMetrics() }
        if results == options.warmUp + options.messages { isCollecting = false }
    }
}
