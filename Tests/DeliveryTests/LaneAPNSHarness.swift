import AMQP
import APNS
import APNSProtocol
import APNSSimulator
import BrokerTopology
import Crypto
import EventLoop
import Registrations
import Telemetry
import TestKit
import Testing

@testable import Delivery

/// Lanes of one process, the simulator as APNs, and the network between them.
final class LaneAPNSHarness {
    let harness: LaneHarness
    let network = SimulatedNetwork()
    let apns: SimulatorServer
    private let publicKey: ES256PublicKey
    private let seen: Seen
    private let teams: Int

    final class Seen {
        var pushes: [LoggedRequest] = []
        /// The network states of single keys, instead of the state of their environment.
        var states: [Int: SimulatedNetwork.State] = [:]
        /// The token signers of the keys, if tokens are signed once for all lanes.
        var sources: [Credential.Name: ProviderTokenSigner] = [:]
        var refusals: [(name: Credential.Name, refusal: TokenRefusal)] = []
    }

    /// Starts the lanes and APNs.
    ///
    /// Apps use the keys round-robin, and keys use the teams round-robin. Without `teams`, each key has its own team.
    ///
    /// - Parameters:
    ///   - environments: The environment of each key. The default is the sandbox.
    ///   - signsOnce: Whether provider tokens are signed once for all lanes. Otherwise, each lane signs its own tokens.
    ///   - endpoints: The number of endpoints, which keys use round-robin. All endpoints lead to the same APNs.
    ///   - limits: The limits of each app.
    init(
        lanes: Int = 1, inFlightMax: Int = LaneHarness.inFlightMax, connectionsMax: Int = 1, keys: Int = 1,
        environments: [APNSEnvironment] = [], teams: Int? = nil, apps: Int = 1, requestQueues: [String] = [],
        shards: [String: Int] = [:], endpoints: Int = 1, signsOnce: Bool = false, traces: Bool = false,
        journal: JournalSettings? = nil,
        limits: [Int: PushLimits] = [:], hasRegistrations: Bool = false, log: Log = .silent,
        registrations: ((VirtualLoop) throws -> RegistrationReader)? = nil
    ) throws {
        let seen = Seen()
        self.seen = seen
        self.teams = teams ?? keys
        let environment = { @Sendable (key: Int) in environments.isEmpty ? APNSEnvironment.sandbox : environments[key] }
        let privateKey = try #require(SimulatedApps.privateKey)
        publicKey = try privateKey.publicKey()
        let pools = try (0..<keys).map { [teams = self.teams] number in
            let key = try ProviderKey(
                privateKey: privateKey, keyID: SimulatedApps.keyID(number),
                teamID: SimulatedApps.teamID(number % teams))
            var pool = PoolConfiguration(environment: environment(number), key: key)
            if number % endpoints > 0 { pool.authority = "apns\(number % endpoints).test" }
            pool.connectionsMax = connectionsMax
            return pool
        }
        let directory = (0..<apps).map { app in
            let key = app % keys
            let isProduction = environment(key) == .production
            return AppDirectory.App(
                bundleID: SimulatedApps.bundleID(app), defaultEnvironment: environment(key),
                production: isProduction ? .init(key) : nil, sandbox: isProduction ? nil : .init(key),
                limits: limits[app] ?? PushLimits())
        }
        harness = try LaneHarness(
            lanes: lanes, inFlightMax: inFlightMax, log: log, requestQueues: requestQueues, shards: shards,
            apps: directory, pools: pools, tokens: signsOnce ? try Self.tokens(pools, seen) : [:], traces: traces,
            journal: journal, hasRegistrations: hasRegistrations, registrations: registrations
        ) { [network, seen] loop in
            pools.indices.map { key in
                SimulatedConnector(loop: loop, endpoint: Self.endpoint(environment(key)), host: SimulatedHost()) {
                    seen.states[key] ?? network.state(to: environment(key))
                }
            }
        }
        var configuration = SimulatorConfiguration()
        configuration.answerDelay = .milliseconds(100)
        configuration.requestsLoggedMax = 0
        var state = SimulatorState()
        state.unknownDevices = .active
        for key in 0..<keys { state.add(Self.registered(key, of: self.teams, publicKey)) }
        for app in 0..<apps {
            state.addApp(bundleID: SimulatedApps.bundleID(app), teamID: SimulatedApps.teamID(app % keys % self.teams))
        }
        let loop = harness.loop
        apns = try loop.enter {
            let apns = SimulatorServer(loop: loop, configuration: configuration, state: state)
            for environment in [APNSEnvironment.sandbox, .production] {
                try apns.listen(on: Self.endpoint(environment), as: Service(environment, .push))
            }
            _ = try loop.listen(on: SimulatedNetwork.silence) { $0.handler = ByteStreamHandler() }
            return apns
        }
        apns.memory.onRequest = { request, _ in seen.pushes.append(request) }
        let isReady = harness.run { harness.isReady }
        try #require(isReady)
    }

    private static func tokens(
        _ pools: [PoolConfiguration], _ seen: Seen
    ) throws -> [Credential.Name: TokenSupply] {
        var supplies: [Credential.Name: TokenSupply] = [:]
        for case .key(let key) in pools.map(\.credential) {
            var source = ProviderTokenSigner(key: key)
            _ = source.renew(VirtualLoop(seed: 1).now) { 0 }
            let name = Credential.key(key).name
            seen.sources[name] = source
            // Used only on the thread that runs the loop.
            nonisolated(unsafe) let seen = seen
            supplies[name] = TokenSupply(first: try #require(source.newest)) { seen.refusals.append((name, $0)) }
        }
        return supplies
    }

    private static func endpoint(_ environment: APNSEnvironment) -> Endpoint {
        SimulatedNetwork.apns(environment, worker: 0)
    }

    /// Answers each recorded token refusal as a worker process does, and passes the answer to the first lane. Returns
    /// the number of refusals.
    func signTokens() -> Int {
        let asked = seen.refusals
        seen.refusals = []
        for (name, refusal) in asked {
            let token = seen.sources[name]?.refused(refusal, harness.loop.now) { 0 }
            let news = token.map { ProviderTokenUpdate.newest($0) } ?? .nothingNewer(than: refusal.generation)
            harness.withLane { $0.apply(news, of: name) }
        }
        return asked.count
    }

    var now: MonotonicTime { harness.loop.now.monotonic }
    var pushes: [LoggedRequest] { seen.pushes }
    var results: Int { harness.broker.queue(harness.names.resultsQueue)?.published ?? 0 }
    var accepted: Int { harness.counters.count(of: .accepted) }
    var areBreakersClosed: Bool { harness.withLane { $0.pipeline.dispatcher.breakers.openings.isEmpty } }
    /// The number of publishes to wait queues.
    var waits: Int { harness.counters.registry.count(of: "martlet_retry_total") }
    var connections: Int { harness.loop.network.connections.count { $0.endpoint == Self.endpoint(.sandbox) } }

    func request(_ count: Int, from first: Int = 0, app: Int = 0, key: String = "-") {
        for number in first..<first + count { harness.request(Self.message(number, app: app), key: key) }
    }

    static func id(_ number: Int) -> String {
        let digits = String(number, radix: 16)
        return "6f1c7c1e-3c52-4a53-9c1b-" + String(repeating: "0", count: 12 - digits.count) + digits
    }

    static func message(_ number: Int, app: Int) -> String {
        #"""
        {"id":"\#(id(number))","app":"\#(SimulatedApps.bundleID(app))","device_token":"aabb","push_type":"alert",
         "payload":{"aps":{"alert":"x"}}}
        """#
    }

    /// Sets the network state of a key; nil for the state of its environment.
    func set(_ state: SimulatedNetwork.State?, ofKey key: Int) { seen.states[key] = state }

    func revoke(_ key: Int) { apns.state.revokeKey(id: SimulatedApps.keyID(key)) }

    func restore(_ key: Int, _ scope: RegisteredKey.Scope = .team) {
        apns.state.add(Self.registered(key, of: teams, publicKey, scope))
    }

    private static func registered(
        _ key: Int, of teams: Int, _ publicKey: ES256PublicKey, _ scope: RegisteredKey.Scope = .team
    ) -> RegisteredKey {
        RegisteredKey(
            id: SimulatedApps.keyID(key), teamID: SimulatedApps.teamID(key % teams), publicKey: publicKey, scope: scope)
    }

    func end(_ ending: LaneOutageTests.Ending) {
        harness.onLoop {
            switch ending {
            case .cut: for connection in open { connection.cut() }
            case .goAway: _ = try? apns.perform(.goAway(FaultGoAway()))
            }
        }
    }

    private var open: [VirtualConnection] {
        harness.loop.network.connections.filter { $0.isOpen && $0.endpoint != harness.broker.endpoint }
    }
}
