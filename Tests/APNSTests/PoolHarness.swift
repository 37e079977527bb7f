import APNSProtocol
import Crypto
import EventLoop
import HTTP2
import Telemetry

@testable import APNS

/// A pool on virtual time with a scripted APNs, and the outcomes of the pushes.
final class PoolHarness {
    let loop: VirtualLoop
    let apns: FakeAPNS
    let owner: Owner
    private let metrics = PoolMetrics()
    private var sent = 0

    /// The owner of the pool, which represents a lane.
    actor Owner {
        nonisolated let loop: VirtualLoop
        nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
        let pool: APNSPool
        /// Outcomes by the number of the push. Pushes are numbered in the order of sending.
        var outcomes: [Int: PushOutcome] = [:]
        /// Numbers of the completed pushes, in the order of completion.
        var ended: [Int] = []
        var events: [PoolEvent] = []

        init(
            loop: VirtualLoop, configuration: PoolConfiguration, tokens: TokenSupply?, metrics: PoolMetrics, log: Log
        ) {
            self.loop = loop
            pool = APNSPool(
                loop: loop, connector: ByteConnector(loop: loop, endpoint: FakeAPNS.endpoint),
                configuration: configuration, tokens: tokens, metrics: metrics, log: log)
        }

        func listen() {
            pool.start(Events(of: self))
        }

        private final class Events: PoolHandler {
            unowned let owner: Owner

            init(of owner: Owner) { self.owner = owner }

            override func received(_ event: PoolEvent) { owner.assumeIsolated { $0.events.append(event) } }
        }

        func send(_ number: Int, _ request: APNSRequest, priority: Int, onFreshConnection: Bool) async {
            let outcome = await pool.send(request, priority: priority, onFreshConnection: onFreshConnection)
            precondition(outcomes[number] == nil, "a push has two outcomes")
            outcomes[number] = outcome
            ended.append(number)
        }
    }

    static let key: ProviderKey = {
        do { return try ProviderKey(privateKey: .generate(), keyID: "ABCDE12345", teamID: "TEAM123456") } catch {
            fatalError("\(error)")
        }
    }()

    init(
        seed: UInt64 = 1, tokens: TokenSupply? = nil, log: Log = .silent,
        _ adjust: (inout PoolConfiguration) -> Void = { _ in }
    ) throws {
        loop = VirtualLoop(seed: seed)
        apns = FakeAPNS(loop)
        var configuration = PoolConfiguration(environment: .sandbox, key: Self.key, authority: "api.test")
        configuration.connectionsMax = 1
        adjust(&configuration)
        owner = Owner(loop: loop, configuration: configuration, tokens: tokens, metrics: metrics, log: log)
        try loop.enter {
            owner.assumeIsolated { $0.listen() }
            try apns.start()
        }
    }

    /// Closes everything, to avoid reports of the leak sanitizer.
    deinit {
        apns.onRequest = { _, _ in }
        apns.onGoAway = { _ in }
        loop.enter {
            owner.assumeIsolated { $0.pool.close() }
            apns.close()
        }
        _ = loop.run(limit: .seconds(60), until: { false })
    }

    static func request(
        _ number: Int, token: String? = nil, topic: String = "com.example.app", priority: Priority? = nil,
        expiration: Int64? = nil, collapseID: String? = nil, alert: String? = nil
    ) -> APNSRequest {
        .device(
            token: Array((token ?? "00ff11ee\(String(100_000 + number))").utf8)[...], topic: Array(topic.utf8),
            pushType: .alert, priority: priority, expiration: expiration,
            collapseID: collapseID.map { Array($0.utf8)[...] }, id: UUIDValue(high: 0, low: UInt64(number)),
            payload: Array(#"{"aps":{"alert":"\#(alert ?? "\(number)")"}}"#.utf8))
    }

    static func broadcast(
        _ number: Int, channel: String = "dHN0LXNyY2gtY2hubA==", app: String = "com.example.app"
    ) -> APNSRequest {
        .broadcast(
            channel: Array(channel.utf8)[...], bundleID: Array(app.utf8),
            id: UUIDValue(high: 0, low: UInt64(number)), payload: Array(#"{"aps":{}}"#.utf8))
    }

    /// Sends pushes without waiting for their outcomes. Returns the number of the first push.
    @discardableResult
    func send(
        _ count: Int = 1, priority: Int = 0, onFreshConnection: Bool = false,
        _ make: (Int) -> APNSRequest = { PoolHarness.request($0) }
    ) -> Int {
        let first = sent
        loop.enter {
            for number in first..<(first + count) {
                let request = make(number)
                Task(executorPreference: loop) { [owner] in
                    await owner.send(number, request, priority: priority, onFreshConnection: onFreshConnection)
                }
            }
        }
        sent += count
        return first
    }

    var outcomes: [Int: PushOutcome] { loop.enter { owner.assumeIsolated { $0.outcomes } } }
    var events: [PoolEvent] {
        // `run` evaluates its condition on the loop.
        guard !loop.isOnLoop else { return owner.assumeIsolated { $0.events } }
        return loop.enter { owner.assumeIsolated { $0.events } }
    }
    /// Numbers of the completed pushes, in the order of completion.
    var ended: [Int] { loop.enter { owner.assumeIsolated { $0.ended } } }
    var connects: Int { metrics.connects.value }
    var resent: Int { metrics.resent.value }
    var statistics: PoolStatistics { withPool { $0.statistics } }

    func withPool<Result: Sendable>(_ body: @Sendable (APNSPool) -> Result) -> Result {
        loop.enter { owner.assumeIsolated { body($0.pool) } }
    }

    /// Runs until `isDone` returns true, for at most `limit`. Returns whether `isDone` returned true.
    func run(_ limit: Duration = .seconds(7200), until isDone: () -> Bool) -> Bool {
        loop.run(limit: limit, until: isDone) == .done
    }

    /// Runs until the number of completed pushes is `count`, for at most two hours. Returns whether it reached
    /// `count`.
    func runUntilEnded(_ count: Int) -> Bool {
        loop.run(limit: .seconds(7200)) { owner.assumeIsolated { $0.outcomes.count } == count } == .done
    }

    /// Advances the virtual time.
    func pass(_ duration: Duration) {
        var isOver = false
        loop.enter { _ = loop.schedule(after: duration) { isOver = true } }
        _ = loop.run(limit: duration + .seconds(1)) { isOver }
    }

    /// Returns the answer of a push; nil without an answer.
    func answer(_ number: Int) -> PushAnswer? {
        if case .answered(let answer) = outcomes[number] { answer } else { nil }
    }

    func isAccepted(_ number: Int) -> Bool { answer(number)?.status == 200 }

    /// Answers in the order of sending.
    var answers: [PushAnswer] { outcomes.keys.sorted().compactMap(answer) }
}
