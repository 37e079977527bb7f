import AMQP
import APNS
import BrokerTopology
import EventLoop
import Telemetry
import TestKit

@testable import Delivery

/// What a test of a lane needs around it.
final class LaneHarness {
    static let inFlightMax = 10

    let loop = VirtualLoop(seed: 1)
    let broker: ScriptedBroker
    let counters = LaneCounters(MetricsRegistry())
    let duplicates = DuplicateMemory()
    private var lanes: [Lane]
    let names: TopologyNames
    private let state = State()

    /// `@unchecked Sendable`: touched on the one thread that runs the loop.
    private final class State: @unchecked Sendable {
        /// By their numbers.
        var readyLanes: Set<Int> = []
        var publishingFailure: String?
        /// How often a lane was ready and then no longer.
        var stops = 0
        var hasFinished = false
        var unfinished: [Int] = []
        var status: LaneStatus?
        var isKnown: Bool?
        var spans: [[Span]] = []

        func changed(_ lane: Int, _ state: LaneState) {
            if state.isReady {
                readyLanes.insert(lane)
            } else if readyLanes.remove(lane) != nil {
                stops += 1
            }
            publishingFailure = state.publishingFailure
        }
    }

    /// - Parameter lanes: of one process, with its memory of duplicates.
    init(
        lanes count: Int = 1, inFlightMax: Int = LaneHarness.inFlightMax, bodyBytesMax: Int? = nil,
        publishedBytesMax: Int? = nil, log: Log = .silent, requestQueues: [String] = [],
        shards: [String: Int] = [:],
        apps: [AppDirectory.App] = [], payloadSchemas: PayloadSchemas = PayloadSchemas(),
        pools: [PoolConfiguration] = [], tokens: [Credential.Name: TokenSupply] = [:], traces: Bool = false,
        apns: (VirtualLoop) -> [ByteConnector] = { _ in [] }
    ) throws {
        let endpoint = Endpoint(host: "broker", port: 5672)
        names = TopologyNames(requestQueues: requestQueues, shards: shards)
        broker = loop.enter { [loop] in ScriptedBroker(loop: loop, endpoint: endpoint) }
        var configuration = LaneConfiguration(
            names: names,
            broker: ConnectionConfiguration(credentials: AMQPCredentials(user: "guest", password: "guest")),
            inFlightMax: inFlightMax, apps: AppDirectory(apps), pools: pools, worker: "tested")
        configuration.payloadSchemas = payloadSchemas
        configuration.laneCount = count
        configuration.completeRemedy = { $0.replacing("topology apply", with: "topology apply --config a.yaml") }
        if let publishedBytesMax { configuration.publisher.messageBytesMax = publishedBytesMax }
        if let bodyBytesMax {
            (configuration.consumer.messageBytesMax, configuration.consumer.bodyBytesInFlightMax) =
                (bodyBytesMax, bodyBytesMax)
        }
        lanes = try loop.enter { [loop, broker, counters, duplicates, names, state, configuration] in
            Topology(names: names).declare(at: broker)
            try broker.start()
            let onSpans: (@Sendable (SpanBuffer) -> Void)? =
                traces ? { @Sendable in state.spans.append($0.spans) } : nil
            return (0..<count).map { number in
                let connector = ByteConnector(loop: loop, endpoint: endpoint)
                return Lane(
                    loop: loop, configuration: configuration,
                    connectors: Lane.Connectors(consumer: [connector], publisher: [connector], apns: apns(loop)),
                    tokens: tokens, counters: counters, duplicates: duplicates, log: log, onSpans: onSpans,
                    onStateChange: { state.changed(number, $0) })
            }
        }
        for lane in lanes { loop.enter { [loop] in _ = Task(executorPreference: loop) { await lane.start() } } }
    }

    /// Ends everything, so that the leak sanitizer finds nothing left.
    deinit {
        for lane in lanes.indices.dropFirst(ended) { drain(lane, deadlineSeconds: 1) }
        _ = run { unfinished != nil }
        loop.enter { broker.crash() }
        _ = loop.run(limit: .seconds(60), until: { false })
    }

    var isReady: Bool { state.readyLanes.count == lanes.count }
    var stops: Int { state.stops }
    var publishingFailure: String? { state.publishingFailure }
    /// How many deliveries the drains have left; nil before the end of the last.
    var unfinished: Int? { state.unfinished.count >= lanes.count ? state.unfinished.reduce(0, +) : nil }
    /// Lanes that have ended.
    var ended: Int { state.unfinished.count }

    /// All that there were: one over which the lane publishes, one over which it takes messages, in no order.
    var connections: [VirtualConnection] { loop.network.connections.filter { $0.endpoint == broker.endpoint } }

    /// Declares what is missing at the broker.
    func mendTopology() {
        loop.enter { Topology(names: names).declare(at: broker) }
    }

    func onLoop(_ body: () throws -> Void) rethrows { try loop.enter(body) }

    /// Runs for at most two hours.
    func run(until isDone: () -> Bool) -> Bool {
        loop.run(limit: .seconds(7200), until: isDone) == .done
    }

    /// - Parameter key: which of several queues of requests it is for.
    func request(_ text: String, headers: FieldTable = FieldTable(), key: String = "-", deliveryCount: Int = 0) {
        loop.enter { publish(text, headers: headers, key: key, deliveryCount: deliveryCount) }
    }

    /// The same, to be called on the loop.
    func publish(_ text: String, headers: FieldTable = FieldTable(), key: String = "-", deliveryCount: Int = 0) {
        _ = broker.publish(
            exchange: names.requestsExchange, routingKey: key, messageID: text, headers: headers,
            body: Array(text.utf8), deliveryCount: deliveryCount)
    }

    func replace(_ payloadSchemas: PayloadSchemas) {
        for lane in lanes {
            loop.enter { [loop] in _ = Task(executorPreference: loop) { await lane.apply(payloadSchemas) } }
        }
    }

    /// Looks at the first lane from within, or changes it; also while `run` asks whether it is done.
    func withLane<Result: Sendable>(_ body: @Sendable (isolated Lane) -> Result) -> Result {
        let lane = lanes[0]
        guard !loop.isOnLoop else { return lane.assumeIsolated { body($0) } }
        return loop.enter { lane.assumeIsolated { body($0) } }
    }

    /// Shows what the first lane is delivered before it takes it.
    func watchDeliveries(_ see: @escaping @Sendable (IncomingMessage) -> Void) {
        withLane { lane in
            for consumer in lane.pipeline.session.consumers { consumer.wrapHandler { DeliveryTap($0, before: see) } }
        }
    }

    /// How the first lane stands.
    func status() -> LaneStatus? {
        state.status = nil
        loop.enter { [loop, state, lane = lanes[0]] in
            _ = Task(executorPreference: loop) { state.status = await lane.status() }
        }
        _ = run { state.status != nil }
        return state.status
    }

    /// Whether all lanes know what is meant.
    func pause(_ scope: PauseScope, _ isPaused: Bool = true) -> Bool {
        lanes.allSatisfy { lane in
            state.isKnown = nil
            loop.enter { [loop, state] in
                _ = Task(executorPreference: loop) { state.isKnown = await lane.pause(scope, isPaused) }
            }
            _ = run { state.isKnown != nil }
            return state.isKnown == true
        }
    }

    /// What was handed over, where `traces` was wanted.
    var spans: [Span] { state.spans.flatMap(\.self) }
    /// How many at a time.
    var spansHandedOver: [Int] { state.spans.map(\.count) }

    /// The first lane.
    func finish(deadlineSeconds: Int) {
        loop.enter { [loop, state, lane = lanes[0]] in
            _ = Task(executorPreference: loop) {
                await lane.stopConsuming()
                await lane.finish(deadlineSeconds: deadlineSeconds)
                state.hasFinished = true
            }
        }
    }

    var hasFinished: Bool { state.hasFinished }

    /// Lanes end in their order.
    func drain(_ lane: Int = 0, deadlineSeconds: Int) {
        loop.enter { [loop, state, lane = lanes[lane]] in
            _ = Task(executorPreference: loop) {
                state.unfinished.append(await lane.drain(deadlineSeconds: deadlineSeconds).unfinished)
            }
        }
    }

    /// Has the lane end as the lanes of a configuration before do.
    func leave(_ lane: Int = 0) {
        loop.enter { [loop, state, lane = lanes[lane]] in
            _ = Task(executorPreference: loop) {
                await lane.stopConsuming()
                await lane.finish(deadlineSeconds: 60)
                state.unfinished.append(await lane.drain(deadlineSeconds: Lane.closeDeadlineSeconds).unfinished)
            }
        }
    }

    /// Forgets the lanes, which have ended, and tells whether nobody holds the first.
    func letsGo() -> Bool {
        weak let lane = lanes.first
        lanes = []
        pass(seconds: 60)
        return lane == nil
    }

    /// Lets so much time pass.
    func pass(seconds: Int64) {
        let end = loop.now.monotonic + .seconds(seconds)
        _ = run { loop.now.monotonic >= end }
    }

    /// Of those that the lanes take requests from.
    func queue(_ name: String? = nil) -> ScriptedQueue? { broker.queue(name ?? names.requestQueues[0]) }
    var deadLetters: [ScriptedMessage] { Array(broker.queue(names.deadQueue)?.ready ?? []) }
}
