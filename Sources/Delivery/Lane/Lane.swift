import AMQP
public import APNS
import APNSProtocol
public import EventLoop
public import Telemetry

/// One thread's share of a worker: takes messages from the queues, has APNs push them, and publishes what became of each.
///
/// Its executor is its event loop; it owns its connections, which nobody else touches. Lanes share what a process
/// remembers of copies, and nothing else.
public actor Lane {
    public nonisolated let loop: EventLoop
    public nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    let configuration: LaneConfiguration
    let reader: RequestReader
    let policy: OutcomePolicy
    let consuming: BrokerConnection
    let publishing: BrokerConnection
    /// One for each request queue, in the order of their importance, then that of the quarantine, then that of expired
    /// messages.
    let consumers: [Consumer]
    /// By consumer: that of what is pushed of its deliveries.
    let priorities: [Int]
    let publisher: Publisher
    /// Go on with a delivery of which something was pushed, or published. Made once, as they are called without asking the
    /// runtime whether this is the lane's loop, which would cost as much as a task that waits.
    var whenPushed: InFlightPush.Continuation = { _, _, _ in }
    var whenPublished: Settlement.Continuation = { _, _, _ in }
    let pools: [APNSPool]
    let counters: LaneCounters
    var labels: LaneLabels
    let log: Log
    let copies: DuplicateMemory
    /// By consumer: what its deliveries come on.
    var channels: [DuplicateMemory.Channel]
    var breakers: BreakerSet
    var availability: RouteAvailability
    /// Set while no endpoint is known to accept connections, for less than the grace.
    var availabilityTimer: TimerToken?
    /// nil while an endpoint accepts connections.
    var unreachableSince: MonotonicTime?
    var held: HeldRequests
    var limits: AppLimits
    var turns: PermitQueues
    var state = LaneState()
    var outages: BrokerOutageLog
    var inFlight = 0
    var whenIdle: UnsafeContinuation<Void, Never>?
    var backlog = PublishBacklog()
    /// Set once nothing more will be published: whoever still waits to gives up.
    var isEnding = false
    var spans = SpanBuffer()
    /// nil: nobody wants spans.
    let onSpans: (@Sendable (SpanBuffer) -> Void)?
    private let onStateChange: @Sendable (LaneState) -> Void

    /// How the lane reaches the world.
    ///
    /// `@unchecked Sendable`: made on the lane's loop and used on it alone, which every connection asserts.
    public struct Connectors: @unchecked Sendable {
        public var consumer: [ByteConnector]
        public var publisher: [ByteConnector]
        /// One for each pool.
        public var apns: [ByteConnector]

        public init(consumer: [ByteConnector], publisher: [ByteConnector], apns: [ByteConnector]) {
            self.consumer = consumer
            self.publisher = publisher
            self.apns = apns
        }
    }

    /// To be called on the loop's thread.
    ///
    /// - Parameters:
    ///   - tokens: where the provider tokens of a key come from, once for a process; without, each pool signs its own.
    ///   - copies: the same for all lanes of a process.
    ///   - onSpans: called on the loop, at most once a second, with what has ended of traces that are kept.
    ///   - onStateChange: called on the loop whenever the lane's state changes.
    public init(
        loop: EventLoop, configuration: LaneConfiguration, connectors: Connectors,
        tokens: [Credential.Name: TokenSupply] = [:], counters: LaneCounters, copies: DuplicateMemory, log: Log,
        onSpans: (@Sendable (SpanBuffer) -> Void)? = nil,
        onStateChange: @escaping @Sendable (LaneState) -> Void = { _ in }
    ) {
        loop.assertOnLoop()
        precondition(configuration.pools.count == connectors.apns.count, "each pool has a connector")
        self.loop = loop
        self.configuration = configuration
        self.counters = counters
        labels = LaneLabels(configuration, counters.registry)
        self.copies = copies
        let log = log.with(.lane, .integer(configuration.number))
        self.log = log
        self.onSpans = onSpans
        self.onStateChange = onStateChange
        reader = RequestReader(
            apps: configuration.apps, payloadSchemas: configuration.payloadSchemas,
            bytesMax: configuration.consumer.messageBytesMax, depthMax: configuration.messageDepthMax)
        policy = OutcomePolicy(schedule: configuration.schedule, resendsUnknown: configuration.resendsUnknown)
        let consuming = BrokerConnection(
            loop: loop, connectors: connectors.consumer, configuration: configuration.broker(for: .consume))
        self.consuming = consuming
        publishing = BrokerConnection(
            loop: loop, connectors: connectors.publisher, configuration: configuration.broker(for: .publish))
        consumers = configuration.consumers.map { Consumer(on: consuming, configuration: $0) }
        priorities = configuration.priorities
        copies.expect(channels: configuration.laneCount * consumers.count)
        channels = consumers.map { _ in copies.openChannel() }
        outages = BrokerOutageLog(
            queues: configuration.consumers.map(\.queue), completeRemedy: configuration.completeRemedy)
        publisher = Publisher(on: publishing, configuration: configuration.publisher)
        pools = zip(configuration.pools, connectors.apns).map { pool, connector in
            APNSPool(
                loop: loop, connector: connector, configuration: pool, tokens: tokens[pool.credential.name],
                metrics: counters.metrics(of: pool.credential.name, pool.environment), log: log)
        }
        let breakers = BreakerSet(endpointOfPool: configuration.endpointOfPool)
        self.breakers = breakers
        availability = RouteAvailability(endpointCount: breakers.endpointCount)
        held = HeldRequests(pace: HoldPace(laneCount: configuration.laneCount))
        limits = configuration.limits
        turns = PermitQueues(appCount: configuration.apps.count, loop: loop)
    }

    /// Connects and begins to take messages.
    public func start() {
        whenPushed = { self.pushed($0, of: $1, $2) }
        whenPublished = { self.published($0, of: $1, $2) }
        for (index, consumer) in consumers.enumerated() {
            consumer.onDelivery = { self.take($0, from: index) }
            consumer.onChannelLost = { self.channelLost(index) }
            consumer.onStateChange = { self.brokerChanged($0, .consume, isConnection: false) }
        }
        consuming.onStateChange = { self.brokerChanged($0, .consume, isConnection: true) }
        publishing.onStateChange = { self.brokerChanged($0, .publish, isConnection: true) }
        publisher.onStateChange = { self.brokerChanged($0, .publish, isConnection: false) }
        publisher.onUserIDRefused = { self.userIDRefused($0) }
        for (index, pool) in pools.enumerated() {
            pool.onEvent = { self.poolChanged(index, $0) }
        }
        publishing.start()
        consuming.start()
    }

    func take(_ delivery: consuming IncomingMessage, from source: Int) {
        let record = DeliveryRecord(of: delivery, from: source, loop.now)
        guard configuration.defects.leavesTheExecutor else { return deliver(record) }
        // Not sent: made here, and used there alone.
        nonisolated(unsafe) let sent = record
        Task.detached(executorPreference: globalConcurrentExecutor) { await self.deliver(sent) }
    }

    private func channelLost(_ index: Int) {
        copies.lose(channels[index], now: loop.now.monotonic)
        channels[index] = copies.openChannel()
        deliverHeld()
    }

    func stateChanged() {
        onStateChange(state)
    }

    /// Starts or stops consuming, as the state says.
    func wantsChanged() {
        stateChanged()
        for (source, consumer) in consumers.enumerated() {
            let isWanted =
                switch configuration.role(ofConsumer: source) {
                case .requests: state.wantsMessages
                case .quarantine, .expired: state.wantsMessagesWithoutAPNS
                }
            if isWanted { consumer.resume() } else { consumer.pause() }
        }
    }
}
