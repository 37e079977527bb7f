public import EventLoop

/// Takes messages from one queue on a channel of its own: consumes, and does so again whenever the connection, the channel
/// or the queue is lost.
///
/// A queue that does not exist (yet) is waited for. Acknowledgements are gathered and leave at the end of the event-loop
/// iteration.
public final class Consumer: ChannelHandler {
    private static let openSpare = 16

    /// Bytes of bodies and properties that were delivered and are not settled.
    public internal(set) var bodyBytesInFlight = 0
    /// Settlements without an effect: the channel of the delivery is gone, and the broker delivers it again; or it was
    /// settled before.
    public internal(set) var staleSettlements = 0
    /// nil before `start` and once `closed` was reported.
    package private(set) var handler: ConsumerHandler?

    let configuration: ConsumerConfiguration
    var subscription = Subscription.stopped(nil)
    /// Whether the user wants deliveries; `subscription` is the state at the broker.
    var wantsToConsume = true
    let stopWaiters = ContinuationList<Void>()
    let quiescenceTimer: DeadlineTimer
    let retryTimer: DeadlineTimer
    /// Of `basic.consume` on all channels. RabbitMQ 3.10 and 3.11 crash a channel on which a consumer tag is used again while
    /// deliveries to it are unsettled (rabbitmq-server#5927), so that each has a tag of its own.
    var consumerNumber = 0
    var consumerTag: String { "martlet-\(consumerNumber)" }
    /// The first delivery that may be to the consumer of now.
    var firstTag: UInt64 = 1

    /// Counts the channels: each delivery names its own.
    private(set) var generation: UInt32 = 0
    var window: AckWindow
    var settlements = UnappliedSettlements()
    /// Whether a settlement was sent after the last `basic.cancel`.
    var hasSettledSinceCancel = false
    /// At most one for each unsettled delivery.
    var withheld: [(tag: UInt64, settlement: Settlement)] = []
    var hasPausedReading = false
    let acknowledgementTimer: DeadlineTimer
    /// `basic.qos` that was sent for its answer alone.
    var echoes = Echoes()
    private var arriving = (tag: UInt64(0), isRedelivered: false)

    public convenience init(on connection: BrokerConnection, configuration: ConsumerConfiguration) {
        self.init(on: connection, configuration: configuration, ownsConnection: false)
    }

    /// On a connection of its own, which `start` opens and `close` closes.
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
        acknowledgementTimer = DeadlineTimer(on: connection.loop)
        super.init(
            AMQPChannel(
                on: connection, ChannelOptions(bodyBytesMax: configuration.messageBytesMax),
                ownsConnection: ownsConnection))
    }

    /// Consumes once the connection is open, and starts the connection if it is not started. Later calls do nothing.
    public func start(_ handler: ConsumerHandler) {
        self.handler = self.handler ?? handler
        channel.start(self)
    }

    /// Puts a handler before the one that receives the events: tests watch the deliveries of a lane with it.
    package func wrapHandler(_ wrap: (ConsumerHandler) -> ConsumerHandler) {
        handler = handler.map(wrap)
    }

    /// Deliveries that are neither acknowledged, rejected nor requeued.
    public var unsettledCount: Int { window.openCount }

    /// As `basic.qos` has it, where 0 is no limit.
    var prefetch: Int { min(max(1, configuration.prefetch), Int(UInt16.max)) }

    /// No broker has more open: a prefetch and a quarter.
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
        for timer in [quiescenceTimer, retryTimer, acknowledgementTimer] { timer.cancel() }
        if hasPausedReading {
            hasPausedReading = false
            connection.resumeReading()
        }
        stopped(nil)
        echoes.reset()
        // Last: the handler may settle, pause or resume.
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
        case (.basicQosOK, _) where echoes.isAwaited:
            echoes.answered()
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
        // What is done leaves with the channel, however short it has waited: another worker would do it again.
        sendSettlements(all: isLast)
        if !isLast, case .stopped = subscription, wantsToConsume, channel.isSetUp, !connection.isClosing {
            consumeWhenSettled()
        }
    }

    override func statusChanged(_ status: BrokerStatus) {
        handler?.statusChanged(status)
        // The handler usually retains the owner of this consumer.
        if status == .closed { handler = nil }
    }
}
