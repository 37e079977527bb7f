public import APNS
public import EventLoop
public import Registrations
public import Telemetry

/// One thread's share of a worker. The lane consumes from the queues, pushes through APNs, and publishes the outcome of
/// each request.
///
/// The lane's executor is its event loop. The lane starts, pauses and drains its `DeliveryPipeline`, which handles the
/// deliveries. On the path of a request, lanes share only the memory of duplicates.
public actor Lane {
    public nonisolated let loop: EventLoop
    public nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    let pipeline: DeliveryPipeline
    let configuration: LaneConfiguration

    /// The connectors of a lane.
    ///
    /// `@unchecked Sendable`: created and used only on the lane's loop.
    public struct Connectors: @unchecked Sendable {
        public var consumer: [ByteConnector]
        public var publisher: [ByteConnector]
        /// One connector for each pool.
        public var apns: [ByteConnector]

        public init(consumer: [ByteConnector], publisher: [ByteConnector], apns: [ByteConnector]) {
            self.consumer = consumer
            self.publisher = publisher
            self.apns = apns
        }
    }

    /// Creates a lane. To be called on the loop's thread.
    ///
    /// - Parameters:
    ///   - tokens: The sources of provider tokens, by key. The pools of a key without a source sign their own tokens.
    ///   - duplicates: The memory of duplicates that all lanes of the process share.
    ///   - registrations: The lane's connection to the store of device registrations, which the lane starts and closes;
    ///     nil if registrations are not configured.
    ///   - onSpans: Called on the loop with the spans of completed deliveries, at most once a second and at the end of
    ///     a drain.
    ///   - onJournal: Called on the loop with the lines of the journal, if the configuration has one.
    ///   - onStateChange: Called on the loop when the state of the lane may have changed.
    public init(
        loop: EventLoop, configuration: LaneConfiguration, connectors: Connectors,
        tokens: [Credential.Name: TokenSupply] = [:], counters: LaneCounters, duplicates: DuplicateMemory, log: Log,
        registrations: RegistrationReader? = nil, onSpans: (@Sendable (SpanBuffer) -> Void)? = nil,
        onJournal: (@Sendable (JournalBuffer) -> Void)? = nil,
        onStateChange: @escaping @Sendable (LaneState) -> Void = { _ in }
    ) {
        loop.assertOnLoop()
        precondition(configuration.pools.count == connectors.apns.count, "each pool needs a connector")
        self.loop = loop
        self.configuration = configuration
        pipeline = DeliveryPipeline(
            LaneContext(
                loop: loop, configuration: configuration, connectors: connectors, tokens: tokens, counters: counters,
                duplicates: duplicates, registrations: registrations,
                log: log.with(.lane, .integer(configuration.number)), onSpans: onSpans,
                onJournal: onJournal, onStateChange: onStateChange))
    }

    /// Connects and starts to consume.
    public func start() { pipeline.start() }

    /// Pauses or resumes a scope until the opposite call or the end of the process. Requests whose pushes are in flight
    /// are settled normally.
    ///
    /// - Returns: false if the lane does not have the key, certificate or topic of the scope.
    public func pause(_ scope: PauseScope, _ isPaused: Bool = true) -> Bool { pipeline.pause(scope, isPaused) }

    /// Probes the open breakers of a scope now, instead of after their waits. A breaker that messages probe is probed by
    /// the next request of its route. Returns the number of breakers.
    public func probeNow(_ scope: ProbeScope) -> Int { pipeline.probeNow(scope) }

    public func apply(_ update: ProviderTokenUpdate, of credential: Credential.Name) {
        for pool in pipeline.dispatcher.pools where pool.configuration.credential.name == credential {
            pool.apply(update)
        }
    }

    /// Replaces the payload schemas from the next delivery on.
    public func apply(_ payloadSchemas: PayloadSchemas) { pipeline.reader.replace(payloadSchemas) }

    public func status() -> LaneStatus { pipeline.status(configuration) }
}
