import AMQP
import APNS
import APNSProtocol
import APNSSimulator
import BrokerTopology
import CValgrind
import Crypto
import Delivery
import EventLoop
import Registrations
import Telemetry
import TestKit

/// A lane between a scripted broker and a simulated APNs, on virtual time.
///
/// callgrind must start with collection off. This type enables collection while the lane runs, after the warm-up. The
/// count includes the lane's metrics and one scrape of the metrics. The count excludes the peers, the kernel, TLS, and
/// the other threads of a worker.
final class CountedLane {
    private static let broker = Endpoint(host: "broker", port: 5672)
    private static let apns = Endpoint(host: "apns", port: 443)
    private static let teamID = "DEMOTEAM01"
    /// The delay of responses by the simulated APNs.
    private static let answerMilliseconds = 5
    private static let limit = Duration.seconds(600)

    private let options: InstructionOptions
    private let loop = VirtualLoop(seed: 1)
    private let lane: NestedLoop
    private let topology = Topology()
    private var results = 0
    private var isCollecting = false
    private let metrics = MetricsRegistry()
    private let bundleIDs: [String]
    private var scrapedLane: Lane?

    init(_ options: InstructionOptions) {
        self.options = options
        bundleIDs = (0..<options.apps).map { "com.example.\(100 + $0)" }
        lane = NestedLoop(on: loop)
        loop.network.wholePiecesPercent = 100
    }

    /// Runs the lane until the results of all counted requests are published.
    func run() throws {
        guard let key = KnownProviderKey.privateKey else { throw ProcessError("cannot read the provider key") }
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
            let lane = makeLane(credentials, try makeReader())
            scrapedLane = lane
            Task(executorPreference: self.lane) { await lane.start() }
        }
        let resultsAwaited = (options.warmUp + options.messages) * options.resultsPerRequest
        let ending = loop.run(limit: Self.limit) { results >= resultsAwaited }
        guard ending == .done else { throw ProcessError("cannot count instructions: \(results) results, \(ending)") }
    }

    /// Returns the credentials, beginning with the apps' credentials in the order of the apps. With several apps, every
    /// second app has a certificate.
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
        // Certificates need TLS, which this benchmark omits.
        state.rules.servesWithoutToken = options.apps > 1
        return loop.enter { SimulatorServer(loop: loop, configuration: configuration, state: state) }
    }

    /// Publishes more requests than are counted, so that the lane is equally busy at the end.
    private func fill(_ broker: ScriptedBroker) {
        let template = BenchMessage(round: 0, users: options.users)
        for number in 0..<(options.warmUp + options.messages + options.inFlight) {
            let message = template.message(
                number, app: bundleIDs[number % bundleIDs.count], queue: topology.names.requestQueues[0])
            broker.publish(routingKey: message.routingKey, messageID: message.messageID, body: message.body)
        }
    }

    /// Returns the reader of registrations; nil for requests to device tokens.
    private func makeReader() throws -> sending RegistrationReader? {
        guard let users = options.users else { return nil }
        return try CountedReader(users, app: bundleIDs[0], on: lane)
    }

    private func makeLane(_ credentials: [Credential], _ reader: sending RegistrationReader?) -> Lane {
        let directory = bundleIDs.enumerated().map { pool, bundleID in
            AppDirectory.App(bundleID: bundleID, defaultEnvironment: .production, production: .init(pool))
        }
        var tokens: [Credential.Name: TokenSupply] = [:]
        for case .key(let key) in credentials { tokens[Credential.key(key).name] = supply(of: key) }
        var configuration = LaneConfiguration(
            broker: ConnectionConfiguration(credentials: AMQPCredentials(user: "guest", password: "guest")),
            inFlightMax: options.inFlight, apps: AppDirectory(directory),
            pools: credentials.map { PoolConfiguration(environment: .production, credential: $0) },
            worker: "host/1/0.0.0")
        configuration.hasRegistrations = options.devices != nil
        let (toBroker, toAPNs) = (
            ByteConnector(loop: lane, endpoint: Self.broker), ByteConnector(loop: lane, endpoint: Self.apns)
        )
        return Lane(
            loop: lane, configuration: configuration,
            connectors: Lane.Connectors(
                consumer: [toBroker], publisher: [toBroker], apns: credentials.map { _ in toAPNs }),
            tokens: tokens, counters: LaneCounters(metrics), duplicates: DuplicateMemory(), log: .silent,
            registrations: reader)
    }

    /// Returns a supply with a signed token. As in a worker, the lane itself signs no token.
    private func supply(of key: ProviderKey) -> TokenSupply {
        var tokens = ProviderTokenSigner(key: key)
        _ = tokens.renew(loop.now, random: loop.nextRandom)
        guard let first = tokens.newest else { preconditionFailure("no provider token was signed") }
        return TokenSupply(first: first) { _ in }
    }

    /// Scrapes the metrics as the admin endpoint does. A real worker that is scraped every 15 s completes
    /// far more requests per scrape.
    private func scrapeMetrics() {
        guard let scrapedLane else { return }
        Task(executorPreference: lane) { [metrics] in
            _ = await scrapedLane.status()
            _ = metrics.render()
        }
    }

    private func countResult() {
        results += 1
        let first = options.warmUp * options.resultsPerRequest
        let count = options.messages * options.resultsPerRequest
        if results == first { isCollecting = true }
        if results == first + count / 2 { scrapeMetrics() }
        if results == first + count { isCollecting = false }
    }
}
