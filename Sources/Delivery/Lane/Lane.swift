import AMQP
import APNS
public import EventLoop
public import Telemetry

/// One thread's share of a worker: takes messages from the queue, has APNs push them, and tells what became of each.
///
/// Its executor is its event loop; it owns its connections, which nobody else touches. Lanes share nothing.
public actor Lane {
    public nonisolated let loop: EventLoop
    public nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    /// Messages remembered against copies: so many times the prefetch, and no fewer than the least.
    private static let rememberedPrefetches = 4
    private static let rememberedMin = 1024

    let configuration: LaneConfiguration
    let origin: Origin
    let reader: NotificationReader
    let policy: OutcomePolicy
    let consumer: Consumer
    let publisher: Publisher
    let pools: [APNSPool]
    let counters: LaneCounters
    let log: Log
    var duplicates: DuplicateMemory<DeliveryTag>
    var state = LaneState()
    var inFlight = 0
    var whenIdle: UnsafeContinuation<Void, Never>?
    /// Set once nothing more will be told: whoever still waits to publish gives up.
    var isEnding = false
    /// When the last repeated publish was logged.
    var repeatLoggedAt: MonotonicTime?
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
    /// - Parameter onStateChange: called on the loop whenever the lane's state changes.
    public init(
        loop: EventLoop, configuration: LaneConfiguration, connectors: Connectors, counters: LaneCounters,
        log: Log, onStateChange: @escaping @Sendable (LaneState) -> Void = { _ in }
    ) {
        loop.assertOnLoop()
        precondition(configuration.pools.count == connectors.apns.count, "each pool has a connector")
        self.loop = loop
        self.configuration = configuration
        self.counters = counters
        self.log = log
        self.onStateChange = onStateChange
        origin = Origin(queue: configuration.requestQueues[0].name, worker: configuration.worker)
        // The broker delivers again at most what was unacknowledged.
        let remembered = max(Self.rememberedMin, Self.rememberedPrefetches * configuration.consumer.prefetch)
        duplicates = DuplicateMemory(finishedMax: remembered)
        reader = NotificationReader(
            apps: configuration.apps, payloadSchemas: configuration.payloadSchemas,
            bytesMax: configuration.consumer.messageBytesMax,
            depthMax: configuration.messageDepthMax)
        policy = OutcomePolicy(schedule: configuration.schedule, resendsUnknown: configuration.resendsUnknown)
        consumer = Consumer(
            loop: loop, connectors: connectors.consumer, connection: configuration.broker,
            configuration: configuration.consumer)
        publisher = Publisher(
            loop: loop, connectors: connectors.publisher, connection: configuration.broker,
            configuration: configuration.publisher)
        pools = zip(configuration.pools, connectors.apns).map { pool, connector in
            APNSPool(loop: loop, connector: connector, configuration: pool, log: log)
        }
    }

    /// Connects and begins to take messages.
    public func start() {
        let executor = configuration.defects.leavesTheExecutor ? nil : loop
        consumer.onDelivery = { delivery in
            Task(executorPreference: executor) { await self.deliver(delivery) }
        }
        consumer.onStateChange = { state in self.assumeIsolated { $0.consumerChanged(state) } }
        publisher.onStateChange = { state in self.assumeIsolated { $0.publisherChanged(state) } }
        publisher.start()
        consumer.start()
    }

    private func consumerChanged(_ consumer: BrokerClientState) {
        state.isConsuming = consumer == .ready
        stateChanged()
        tell(of: consumer, "consume")
    }

    private func publisherChanged(_ publisher: BrokerClientState) {
        state.isPublishing = publisher == .ready
        stateChanged()
        tell(of: publisher, "publish")
    }

    func stateChanged() {
        onStateChange(state)
    }

    private func tell(of broker: BrokerClientState, _ use: String) {
        switch broker {
        case .waiting(let error, let delay):
            log.warning(
                "The broker is not at hand; trying again",
                [
                    .amqpConnection: .string(use), .error: .describing(error),
                    .retryAfterMilliseconds: .integer(Int(delay / .milliseconds(1))),
                ])
        case .blocked(let reason):
            log.warning("The broker takes no messages for now", [.error: .string(reason)])
        case .idle, .connecting, .ready, .closed:
            log.debug("Broker connection changed", [.amqpConnection: .string("\(use): \(broker)")])
        }
    }

    /// Whether a delivery is begun; the others go back at once.
    var takesDeliveries: Bool { state.takesDeliveries }

    /// Stops consuming and puts back what waits to be sent: it could not be sent, or not be told of.
    ///
    /// - Parameter pool: the one whose key is refused.
    func fault(_ reason: String, _ pool: PoolConfiguration? = nil) {
        guard state.fault(reason) else { return }
        if let pool {
            log.error(
                "Consuming stops until somebody acts",
                [
                    .error: .string(reason), .apnsKeyID: .string(pool.key.keyID),
                    .apnsTeamID: .string(pool.key.teamID), .apnsHost: .string(pool.authority),
                ])
        } else {
            log.error("Consuming stops until somebody acts", [.error: .string(reason)])
        }
        stateChanged()
        for pool in pools { pool.stopAccepting() }
        Task(executorPreference: loop) { await self.stopConsuming() }
    }

    private func stopConsuming() async {
        await consumer.stopConsuming()
    }

    func began() {
        inFlight += 1
        counters.deliveries.add()
        counters.inFlight.add(1)
    }

    func ended() {
        inFlight -= 1
        counters.inFlight.add(-1)
        if inFlight == 0 { idle() }
    }
}
