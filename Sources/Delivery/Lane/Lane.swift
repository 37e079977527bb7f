public import APNS
public import EventLoop
public import Telemetry

/// One thread's share of a worker: consumes from the queues, pushes through APNs, and publishes the outcome of each request.
///
/// The lane's executor is its event loop. The lane starts, pauses and drains its `DeliveryPipeline`, which handles the
/// deliveries. Lanes share the memory of duplicates and nothing else.
public actor Lane {
    public nonisolated let loop: EventLoop
    public nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    let pipeline: DeliveryPipeline
    let configuration: LaneConfiguration

    /// How the lane connects.
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
    ///   - tokens: the sources of provider tokens, one for each key of the process; a pool without one signs its own.
    ///   - duplicates: the same for all lanes of a process.
    ///   - onSpans: called on the loop, at most once a second, with the spans of deliveries that have ended.
    ///   - onStateChange: called on the loop when the state of the lane may have changed.
    public init(
        loop: EventLoop, configuration: LaneConfiguration, connectors: Connectors,
        tokens: [Credential.Name: TokenSupply] = [:], counters: LaneCounters, duplicates: DuplicateMemory, log: Log,
        onSpans: (@Sendable (SpanBuffer) -> Void)? = nil,
        onStateChange: @escaping @Sendable (LaneState) -> Void = { _ in }
    ) {
        loop.assertOnLoop()
        precondition(configuration.pools.count == connectors.apns.count, "each pool has a connector")
        self.loop = loop
        self.configuration = configuration
        pipeline = DeliveryPipeline(
            LaneContext(
                loop: loop, configuration: configuration, connectors: connectors, tokens: tokens, counters: counters,
                duplicates: duplicates, log: log.with(.lane, .integer(configuration.number)), onSpans: onSpans,
                onStateChange: onStateChange))
    }

    /// Connects and begins to consume.
    public func start() { pipeline.start() }

    /// Pauses or resumes, until the opposite is asked for or the process ends. Pushes in flight are settled as ever.
    ///
    /// - Returns: false if the lane has no such key, certificate or topic.
    public func pause(_ scope: PauseScope, _ isPaused: Bool = true) -> Bool { pipeline.pause(scope, isPaused) }

    /// Gives the pools of a key its new provider token, or the answer that there is none for a refused one.
    public func apply(_ update: ProviderTokenUpdate, of credential: Credential.Name) {
        for pool in pipeline.dispatcher.pools where pool.configuration.credential.name == credential {
            pool.take(update)
        }
    }

    /// Checks payloads against these schemas from the next delivery on.
    public func apply(_ payloadSchemas: PayloadSchemas) { pipeline.reader.replace(payloadSchemas) }

    public func status() -> LaneStatus { pipeline.status(configuration) }
}
