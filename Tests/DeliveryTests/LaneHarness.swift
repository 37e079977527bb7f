import AMQP
import APNS
import BrokerTopology
import EventLoop
import Registrations
import Telemetry
import TestKit

@testable import Delivery

/// A test harness that runs lanes with a scripted broker, on virtual time.
final class LaneHarness {
    static let inFlightMax = 10

    let loop = VirtualLoop(seed: 1)
    let broker: ScriptedBroker
    let counters = LaneCounters(MetricsRegistry())
    let duplicates = DuplicateMemory()
    private var lanes: [Lane]
    let names: TopologyNames
    private let state = State()

    /// The states and reports of the lanes.
    ///
    /// `@unchecked Sendable`: used only on the thread that runs the loop.
    private final class State: @unchecked Sendable {
        /// The indices of the ready lanes.
        var readyLanes: Set<Int> = []
        var publishingFailure: String?
        /// The number of times that a lane changed from ready to not ready.
        var stops = 0
        var hasFinished = false
        var unfinished: [Int] = []
        var status: LaneStatus?
        var isKnown: Bool?
        var spans: [[Span]] = []
        var journal: [JournalBuffer] = []

        func changed(_ lane: Int, _ state: LaneState) {
            if state.isReady {
                readyLanes.insert(lane)
            } else if readyLanes.remove(lane) != nil {
                stops += 1
            }
            publishingFailure = state.publishingFailure
        }
    }

    /// Starts the lanes and a broker.
    ///
    /// - Parameter lanes: The number of lanes, which share one memory of duplicates.
    init(
        lanes count: Int = 1, inFlightMax: Int = LaneHarness.inFlightMax, bodyBytesMax: Int? = nil,
        publishedBytesMax: Int? = nil, log: Log = .silent, requestQueues: [String] = [],
        shards: [String: Int] = [:],
        apps: [AppDirectory.App] = [], payloadSchemas: PayloadSchemas = PayloadSchemas(),
        pools: [PoolConfiguration] = [], tokens: [Credential.Name: TokenSupply] = [:], traces: Bool = false,
        journal: JournalSettings? = nil, hasRegistrations: Bool = false,
        registrations: ((VirtualLoop) throws -> RegistrationReader)? = nil,
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
        configuration.journal = journal
        configuration.hasRegistrations = hasRegistrations || registrations != nil
        configuration.completeRemedy = { $0.replacing("topology apply", with: "topology apply --config a.yaml") }
        if let publishedBytesMax { configuration.publisher.messageBytesMax = publishedBytesMax }
        if let bodyBytesMax {
            (configuration.consumer.messageBytesMax, configuration.consumer.bodyBytesInFlightMax) =
                (bodyBytesMax, bodyBytesMax)
        }
        lanes = try loop.enter { [loop, broker, counters, duplicates, names, state, configuration] in
            Topology(names: names).declare(at: broker)
            if configuration.hasRegistrations { broker.declareRegistrations(names) }
            try broker.start()
            let onSpans: (@Sendable (SpanBuffer) -> Void)? =
                traces ? { @Sendable in state.spans.append($0.spans) } : nil
            return try (0..<count).map { number in
                let connector = ByteConnector(loop: loop, endpoint: endpoint)
                return Lane(
                    loop: loop, configuration: configuration,
                    connectors: Lane.Connectors(consumer: [connector], publisher: [connector], apns: apns(loop)),
                    tokens: tokens, counters: counters, duplicates: duplicates, log: log,
                    registrations: try registrations?(loop), onSpans: onSpans,
                    onJournal: { state.journal.append($0) },
                    onStateChange: { state.changed(number, $0) })
            }
        }
        for lane in lanes { loop.enter { [loop] in _ = Task(executorPreference: loop) { await lane.start() } } }
    }

    /// Drains the remaining lanes and crashes the broker, so that the leak sanitizer reports nothing.
    deinit {
        for lane in lanes.indices.dropFirst(ended) { drain(lane, deadlineSeconds: 1) }
        _ = run { unfinished != nil }
        loop.enter { broker.crash() }
        _ = loop.run(limit: .seconds(60), until: { false })
    }

    var isReady: Bool { state.readyLanes.count == lanes.count }
    var stops: Int { state.stops }
    var publishingFailure: String? { state.publishingFailure }
    /// The number of deliveries that the drains left unfinished; nil before the last drain has ended.
    var unfinished: Int? { state.unfinished.count >= lanes.count ? state.unfinished.reduce(0, +) : nil }
    /// The number of lanes whose drain has ended.
    var ended: Int { state.unfinished.count }

    /// All connections to the broker so far. Each lane uses separate connections to publish and to consume.
    var connections: [VirtualConnection] { loop.network.connections.filter { $0.endpoint == broker.endpoint } }

    /// Declares the missing objects at the broker.
    func mendTopology() {
        loop.enter { Topology(names: names).declare(at: broker) }
    }

    func onLoop(_ body: () throws -> Void) rethrows { try loop.enter(body) }

    /// Runs the loop until a condition is true, for at most two hours of virtual time.
    ///
    /// - Returns: Whether the condition became true.
    func run(until isDone: () -> Bool) -> Bool {
        loop.run(limit: .seconds(7200), until: isDone) == .done
    }

    /// Publishes a request. `text` is its body and its message id.
    ///
    /// - Parameter key: The routing key, which selects a request queue.
    func request(_ text: String, headers: FieldTable = FieldTable(), key: String = "-", deliveryCount: Int = 0) {
        loop.enter { publish(text, headers: headers, key: key, deliveryCount: deliveryCount) }
    }

    /// Publishes a request, like `request`, but must be called on the loop.
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

    /// Runs a closure isolated to the first lane. Can be called within the condition of `run`.
    func withLane<Result: Sendable>(_ body: @Sendable (isolated Lane) -> Result) -> Result {
        let lane = lanes[0]
        guard !loop.isOnLoop else { return lane.assumeIsolated { body($0) } }
        return loop.enter { lane.assumeIsolated { body($0) } }
    }

    /// Calls the closure with each delivery before the first lane handles it.
    func watchDeliveries(_ see: @escaping @Sendable (IncomingMessage) -> Void) {
        withLane { lane in
            for consumer in lane.pipeline.session.consumers { consumer.wrapHandler { DeliveryTap($0, before: see) } }
        }
    }

    /// Returns the status of the first lane; nil if the lane does not answer.
    func status() -> LaneStatus? {
        state.status = nil
        loop.enter { [loop, state, lane = lanes[0]] in
            _ = Task(executorPreference: loop) { state.status = await lane.status() }
        }
        _ = run { state.status != nil }
        return state.status
    }

    /// Pauses or resumes a scope in each lane, up to the first lane without the scope. Returns whether all lanes have
    /// the scope.
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

    /// The exported spans, if `traces` is set.
    var spans: [Span] { state.spans.flatMap(\.self) }
    /// The lines of the journal, as the lanes have passed them on.
    var journal: [JournalBuffer] { state.journal }
    /// The number of spans in each batch.
    var spansHandedOver: [Int] { state.spans.map(\.count) }

    /// Starts a task in which the first lane stops consuming and finishes its deliveries.
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

    /// Starts to drain a lane. Lanes must be drained in the order of their indices.
    func drain(_ lane: Int = 0, deadlineSeconds: Int) {
        loop.enter { [loop, state, lane = lanes[lane]] in
            _ = Task(executorPreference: loop) {
                state.unfinished.append(await lane.drain(deadlineSeconds: deadlineSeconds).unfinished)
            }
        }
    }

    /// Starts a task in which a lane finishes and drains, like a lane of a replaced configuration.
    func leave(_ lane: Int = 0) {
        loop.enter { [loop, state, lane = lanes[lane]] in
            _ = Task(executorPreference: loop) {
                await lane.stopConsuming()
                await lane.finish(deadlineSeconds: 60)
                state.unfinished.append(await lane.drain(deadlineSeconds: Lane.closeDeadlineSeconds).unfinished)
            }
        }
    }

    /// Releases the lanes and waits for a minute of virtual time. Returns whether the first lane was deallocated.
    func releasesLanes() -> Bool {
        weak let lane = lanes.first
        lanes = []
        pass(seconds: 60)
        return lane == nil
    }

    /// Runs the loop for a duration of virtual time.
    func pass(seconds: Int64) {
        let end = loop.now.monotonic + .seconds(seconds)
        _ = run { loop.now.monotonic >= end }
    }

    /// Returns a queue, by default the first request queue; nil if the queue does not exist.
    func queue(_ name: String? = nil) -> ScriptedQueue? { broker.queue(name ?? names.requestQueues[0]) }
    var deadLetters: [ScriptedMessage] { Array(broker.queue(names.deadQueue)?.ready ?? []) }
}
