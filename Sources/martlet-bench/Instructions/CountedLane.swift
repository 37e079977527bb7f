import AMQP
import APNS
import APNSProtocol
import APNSSimulator
import BrokerTopology
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
    private let lane: NestedLoop
    private let topology = Topology()
    private var results = 0
    private var isCollecting = false
    private let metrics = MetricsRegistry()
    private let bundleIDs: [String]
    private var asked: Lane?

    init(_ options: InstructionOptions) {
        self.options = options
        bundleIDs = (0..<options.apps).map { "com.example.\(100 + $0)" }
        lane = NestedLoop(on: loop)
        loop.network.wholePiecesPercent = 100
    }

    /// - Throws: when not every message ends as one result.
    func run() throws {
        guard let key = KnownProviderKey.privateKey else { throw ProcessError("the key cannot be read") }
        lane.onSwitch = { [unowned self] _ in if isCollecting { martlet_callgrind_toggle_collect() } }
        let broker = loop.enter { ScriptedBroker(loop: loop, endpoint: Self.broker) }
        let credentials = try makeCredentials(key)
        let apns = try makeAPNs(key, credentials)
        try loop.enter {
            topology.declare(at: broker)
            broker.onAppend = { [unowned self] queue, _ in
                if queue.name == topology.names.resultsQueue { countResult() }
            }
            try broker.start()
            try apns.listen(on: Self.apns, as: .productionPush)
            fill(broker)
            let lane = makeLane(credentials)
            asked = lane
            Task(executorPreference: self.lane) { await lane.start() }
        }
        let ending = loop.run(limit: Self.limit) { results >= options.warmUp + options.messages }
        guard ending == .done else { throw ProcessError("\(results) results were published: \(ending)") }
    }

    /// Those of the apps first, in their order; of several apps every other one goes by certificate.
    private func makeCredentials(_ key: ES256PrivateKey) throws -> [Credential] {
        let count = options.apps == 1 ? 1 : max(options.apps, options.credentials)
        return try (0..<count).map { number in
            if number < bundleIDs.count, number % 2 == 1 { return .certificate(bundleIDs[number]) }
            return .key(try ProviderKey(privateKey: key, keyID: "DEMOKEY\(100 + number)", teamID: Self.teamID))
        }
    }

    private func makeAPNs(_ key: ES256PrivateKey, _ credentials: [Credential]) throws -> SimulatorServer {
        var configuration = SimulatorConfiguration()
        configuration.answerDelay = .milliseconds(Self.answerMilliseconds)
        configuration.requestsLoggedMax = 0
        configuration.idsRememberedMax = 1000
        var state = SimulatorState()
        for case .key(let id, let teamID) in credentials.map(\.name) {
            state.add(RegisteredKey(id: id, teamID: teamID, publicKey: try key.publicKey()))
        }
        for bundleID in bundleIDs { state.addApp(bundleID: bundleID, teamID: Self.teamID) }
        state.unknownDevices = .active
        // Certificates are shown within TLS, which is left out here.
        state.rules.servesWithoutToken = options.apps > 1
        return loop.enter { SimulatorServer(loop: loop, configuration: configuration, state: state) }
    }

    /// More than are counted: the lane is as busy at the end as before.
    private func fill(_ broker: ScriptedBroker) {
        let template = BenchMessage(round: 0)
        for number in 0..<(options.warmUp + options.messages + options.inFlight) {
            let message = template.message(
                number, app: bundleIDs[number % bundleIDs.count], queue: topology.names.requestQueues[0])
            broker.publish(routingKey: message.routingKey, messageID: message.messageID, body: message.body)
        }
    }

    private func makeLane(_ credentials: [Credential]) -> Lane {
        let directory = bundleIDs.enumerated().map { pool, bundleID in
            AppDirectory.App(bundleID: bundleID, defaultEnvironment: .production, production: .init(pool))
        }
        var tokens: [Credential.Name: TokenSupply] = [:]
        for case .key(let key) in credentials { tokens[Credential.key(key).name] = supply(of: key) }
        let configuration = LaneConfiguration(
            broker: ConnectionConfiguration(credentials: AMQPCredentials(user: "guest", password: "guest")),
            inFlightMax: options.inFlight, apps: AppDirectory(directory),
            pools: credentials.map { PoolConfiguration(environment: .production, credential: $0) },
            worker: "host/1/0.0.0")
        let (toBroker, toAPNs) = (
            ByteConnector(loop: lane, endpoint: Self.broker), ByteConnector(loop: lane, endpoint: Self.apns)
        )
        return Lane(
            loop: lane, configuration: configuration,
            connectors: Lane.Connectors(
                consumer: [toBroker], publisher: [toBroker], apns: credentials.map { _ in toAPNs }),
            tokens: tokens, counters: LaneCounters(metrics), duplicates: DuplicateMemory(), log: .silent)
    }

    /// Signed elsewhere, as in a worker.
    private func supply(of key: ProviderKey) -> TokenSupply {
        var tokens = ProviderTokenSigner(key: key)
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
