public import EventLoop

/// A consumer of one queue on its own channel. The consumer consumes again after the loss of the connection, the
/// channel or the queue.
///
/// If the queue does not exist, the consumer retries until the queue exists. Each delivery must be acknowledged,
/// rejected or requeued. Acknowledgments are collected and sent at the end of an event-loop iteration, as `AckWindow`
/// decides.
public final class Consumer: ChannelHandler {
    private static let openSpare = 16

    /// The size of the bodies, exchanges, routing keys and properties of the unsettled deliveries, in bytes. Unsettled
    /// deliveries of lost channels count, too.
    public internal(set) var bodyBytesInFlight = 0
    /// The number of settlements without effect. The delivery was settled before, or its channel is lost and the
    /// broker redelivers the message.
    public internal(set) var staleSettlements = 0
    /// The receiver of the deliveries; nil before `start` and after the status `closed` was reported.
    package private(set) var handler: ConsumerHandler?

    let configuration: ConsumerConfiguration
    var subscription = Subscription.stopped(nil)
    /// Whether the caller wants deliveries. `subscription` is the state at the broker.
    var wantsToConsume = true
    let stopWaiters = ContinuationList<Void>()
    let quiescenceTimer: DeadlineTimer
    let retryTimer: DeadlineTimer
    /// The number of `basic.consume` methods on all channels. Each method has a new consumer tag. In RabbitMQ 3.10 and
    /// 3.11, a channel crashes if it reuses a tag while deliveries with this tag are unsettled (rabbitmq-server#5927).
    var consumerNumber = 0
    var consumerTag: String { "martlet-\(consumerNumber)" }
    /// The lowest delivery tag that may belong to the current consumer.
    var firstTag: UInt64 = 1

    /// The number of the current channel, which increases with each channel that opens or is lost. Each delivery
    /// carries the number of its channel.
    private(set) var generation: UInt32 = 0
    var window: AckWindow
    var settlements = UnappliedSettlements()
    /// Whether a settlement was sent after the last `basic.cancel`.
    var hasSettledSinceCancel = false
    /// The rejections and requeues that are withheld during quiescence, at most one for each delivery.
    var withheld: [(tag: UInt64, settlement: Settlement)] = []
    var hasPausedReading = false
    let acknowledgmentTimer: DeadlineTimer
    /// The `basic.qos` methods that are sent only for their answer.
    var qosRoundTrips = QosRoundTrips()
    private var arriving = (tag: UInt64(0), isRedelivered: false)

    public convenience init(on connection: BrokerConnection, configuration: ConsumerConfiguration) {
        self.init(on: connection, configuration: configuration, ownsConnection: false)
    }

    /// Creates a consumer with its own connection, which `start` opens and `close` closes.
    public convenience init(
        loop: EventLoop, connectors: [ByteConnector], connection: ConnectionConfiguration,
        configuration: ConsumerConfiguration
    ) {
        self.init(
            on: BrokerConnection(loop: loop, connectors: connectors, configuration: connection),
            configuration: configuration, ownsConnection: true)
    }

    private init(on connection: BrokerConnection, configuration: ConsumerConfiguration, ownsConnection: Bool) {
        self.configuration = configuration
        window = AckWindow(configuration)
        quiescenceTimer = DeadlineTimer(on: connection.loop)
        retryTimer = DeadlineTimer(on: connection.loop)
        acknowledgmentTimer = DeadlineTimer(on: connection.loop)
        super.init(
            AMQPChannel(
                on: connection, ChannelOptions(bodyBytesMax: configuration.messageBytesMax),
                ownsConnection: ownsConnection))
    }

    /// Starts the connection if necessary, and begins to consume when the connection is open. Later calls do nothing.
    public func start(_ handler: ConsumerHandler) {
        self.handler = self.handler ?? handler
        channel.start(self)
    }

    /// Replaces the handler with a wrapper, so that tests can observe the deliveries of a lane.
    package func wrapHandler(_ wrap: (ConsumerHandler) -> ConsumerHandler) {
        handler = handler.map(wrap)
    }

    /// The number of deliveries that are neither acknowledged, rejected nor requeued.
    public var unsettledCount: Int { window.openCount }

    /// The configured prefetch within the range of `basic.qos`, where 0 would mean no limit.
    var prefetch: Int { min(max(1, configuration.prefetch), Int(UInt16.max)) }

    /// The limit of open deliveries. A delivery beyond this limit resets the connection. With a correct broker, at most
    /// one and a quarter prefetches are open.
    private var openMax: Int { prefetch * 2 + Self.openSpare }

    func sendPrefetch() {
        channel.send(.basicQos(prefetch: UInt16(prefetch)))
    }

    override func opened() {
        generation &+= 1
        sendPrefetch()
    }

    override func lost(_ error: AMQPError) {
        generation &+= 1
        let hadDeliveries = window.hadDeliveries
        window = AckWindow(configuration)
        settlements = UnappliedSettlements()
        withheld = []
        for timer in [quiescenceTimer, retryTimer, acknowledgmentTimer] { timer.cancel() }
        if hasPausedReading {
            hasPausedReading = false
            connection.resumeReading()
        }
        stopped(nil)
        qosRoundTrips.reset()
        // Notify the handler last, because it may settle, pause or resume.
        if hadDeliveries { handler?.channelLost() }
    }

    override func received(_ delivery: ServerMethod.Delivery) -> Bool {
        guard window.openCount < openMax, window.delivered(delivery.tag) else { return false }
        arriving = (delivery.tag, delivery.isRedelivered)
        switch subscription {
        // The broker answers the cancel after all deliveries in transit.
        case .stopping: updateDeadline()
        case .quiescing(var quiescence):
            quiescence.delivered(now: loop.now.monotonic)
            review(quiescence, loop.now.monotonic)
        case .stopped, .starting, .running, .canceled: break
        }
        return true
    }

    override func received(_ method: ServerMethod) -> Bool {
        switch (method, subscription) {
        case (.basicQosOK, _) where qosRoundTrips.isAwaited:
            qosRoundTrips.answered()
        case (.basicQosOK, .stopped) where !channel.isSetUp:
            if wantsToConsume { sendConsume() } else { channel.setupCompleted() }
        case (.basicConsumeOK, .starting):
            subscription = .running
            channel.setupCompleted()
            updateDeadline()
            if !wantsToConsume { quiesce() }
        case (.basicCancelOK, .stopping):
            stopped(nil)
            channel.setupCompleted()
            updateDeadline()
            if wantsToConsume { consumeWhenSettled() }
        case (.basicCancel, _):
            brokerEndedConsumer()
        default:
            return false
        }
        return true
    }

    override func received(_ content: consuming MessageContent) -> Bool {
        let bytes = content.bytes.count
        bodyBytesInFlight += bytes
        if !hasPausedReading, bodyBytesInFlight >= configuration.bodyBytesInFlightMax {
            hasPausedReading = true
            connection.pauseReading()
        }
        handler?.delivered(
            IncomingMessage(
                tag: DeliveryTag(number: arriving.tag, generation: generation, bytes: UInt32(clamping: bytes)),
                queue: configuration.queue, isRedelivered: arriving.isRedelivered, content: content))
        return true
    }

    override func flush(isLast: Bool) {
        if isLast {
            retryTimer.cancel()
            if case .quiescing = subscription { sendCancel() }
        }
        // At the close, send every acknowledgment. Otherwise another worker would repeat the work.
        sendSettlements(all: isLast)
        if !isLast, case .stopped = subscription, wantsToConsume, channel.isSetUp, !connection.isClosing {
            consumeWhenSettled()
        }
    }

    override func statusChanged(_ status: BrokerStatus) {
        handler?.statusChanged(status)
        // The handler usually retains the owner of this consumer, which would be a reference cycle.
        if status == .closed { handler = nil }
    }
}
