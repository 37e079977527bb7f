public import AMQP
public import BrokerTopology
import EventLoop
public import Registrations
public import Telemetry

/// A consumer of registration commands. It applies commands in batches to the store, publishes their events and
/// replies, and acknowledges the commands. It also performs the maintenance of the store.
///
/// The consumer uses one connection to consume and another to publish, as a lane does. The consumer pauses while the
/// store accepts no changes, or while an event, a dead letter or a reply cannot be published.
///
/// `@unchecked Sendable`: loop-bound.
public final class RegistrationConsumer: @unchecked Sendable {
    /// The state of the consumer, for operators.
    public struct Status: Sendable, Hashable {
        public var isConsuming: Bool
        public var isPublishing: Bool
        /// Whether the store accepts changes.
        public var isStoring: Bool
        /// The failures that prevent consuming, publishing or storing, one sentence each; empty without a failure.
        public var reasons: [String]

        public init(isConsuming: Bool, isPublishing: Bool, isStoring: Bool, reasons: [String]) {
            (self.isConsuming, self.isPublishing, self.isStoring) = (isConsuming, isPublishing, isStoring)
            self.reasons = reasons
        }
    }

    /// Maximum number of unacknowledged commands.
    public static let prefetch = 1000

    private let loop: EventLoop
    private let log: Log
    private let completeRemedy: @Sendable (String) -> String
    private let consuming: BrokerConnection
    private let publishing: BrokerConnection
    private let writer: RegistrationWriter
    let intake: CommandIntake
    private let maintenance: StoreMaintenance
    private var outages: BrokerOutageLog

    private var consumer: Consumer { intake.consumer }
    private var publisher: Publisher { intake.publisher }

    /// Creates a consumer. Call this on the loop's thread.
    ///
    /// - Parameters:
    ///   - consuming: The connection for commands.
    ///   - publishing: The connection for events, replies and dead letters.
    ///   - writer: The connection to the store, on the loop of `consuming`. The consumer starts and closes all three
    ///     connections.
    ///   - replyPrefix: Prefix of the names of queues that may receive replies; nil to permit only direct reply-to.
    ///   - devicesPerUserMax: Maximum number of registrations of a user in an app.
    ///   - worker: The host, process and version of the worker, for operators.
    ///   - completeRemedy: A function that completes the commands in a remedy, as in `LaneConfiguration`.
    ///   - environment: A function that returns the environment of a command, or throws the violation.
    public init(
        consuming: BrokerConnection, publishing: BrokerConnection, writer: RegistrationWriter, names: TopologyNames,
        replyPrefix: String?, devicesPerUserMax: Int, metrics: MetricsRegistry, log: Log, worker: String = "-",
        completeRemedy: @escaping @Sendable (String) -> String = { $0 },
        environment: @escaping ReceivedCommand.EnvironmentLookup
    ) {
        loop = consuming.loop
        (self.consuming, self.publishing, self.writer) = (consuming, publishing, writer)
        (self.log, self.completeRemedy) = (log, completeRemedy)
        var configuration = ConsumerConfiguration(queue: names.registrationsQueue, prefetch: Self.prefetch)
        configuration.messageBytesMax = ReceivedCommand.bytesMax
        let registrationMetrics = RegistrationMetrics(metrics)
        let repeats = LaneCounters.publishRepeats(metrics)
        let publisher = Publisher(on: publishing)
        let store = CommandStore(
            writer, loop: consuming.loop, devicesPerUserMax: devicesPerUserMax, metrics: registrationMetrics, log: log,
            completeRemedy: completeRemedy)
        let confirmed = ConfirmedPublisher(publisher, repeats: repeats, log: log, completeRemedy: completeRemedy)
        let events = EventRelay(confirmed, store, exchange: names.resultsExchange, registrationMetrics)
        intake = CommandIntake(
            consumer: Consumer(on: consuming, configuration: configuration), publisher: publisher,
            reader: CommandReader(names: names, replyPrefix: replyPrefix, environment: environment), store: store,
            confirmed: confirmed, events: events,
            replies: ReplyQueue(
                publisher, admin: BrokerAdmin(on: consuming), repeats: repeats, log: log,
                completeRemedy: completeRemedy),
            metrics: registrationMetrics, log: log, worker: worker)
        maintenance = StoreMaintenance(store, intake)
        outages = BrokerOutageLog(
            of: "registrations ", queues: [names.registrationsQueue], completeRemedy: completeRemedy)
    }

    /// Connects to the broker and to the store, and consumes commands until `close`.
    public func start() {
        for connection in [consuming, publishing] { connection.start(BrokerEvents(self)) }
        publisher.start(BrokerEvents(self))
        intake.start()
        consumer.start(CommandEvents(self))
        maintenance.start()
    }

    /// A handler that forwards deliveries and channel losses to the intake, and status changes to the consumer.
    private final class CommandEvents: ConsumerHandler {
        private let registrations: RegistrationConsumer

        init(_ registrations: RegistrationConsumer) { self.registrations = registrations }

        override func delivered(_ message: consuming IncomingMessage) { registrations.intake.delivered(message) }

        override func channelLost() { registrations.intake.channelLost() }

        override func statusChanged(_ status: BrokerStatus) { registrations.logOutages() }
    }

    /// A handler that forwards status changes to the consumer, and logs a refused user ID.
    private final class BrokerEvents: SessionHandler {
        private let registrations: RegistrationConsumer

        init(_ registrations: RegistrationConsumer) { self.registrations = registrations }

        override func statusChanged(_ status: BrokerStatus) { registrations.logOutages() }

        override func userIDRefused(_ error: AMQPError) {
            registrations.log.warning(.userIDRefused, [.error: .string("\(error)")])
        }
    }

    private func logOutages() {
        outages.update(
            consuming: consuming.status, publishing: publishing.status, publisher: publisher.status,
            consumers: [consumer.status], now: loop.now.monotonic, log)
    }

    /// The current state of the consumer.
    public var status: Status {
        Status(
            isConsuming: consumer.status == .ready, isPublishing: publisher.status == .ready,
            isStoring: intake.store.acceptsWork,
            reasons: [
                (consuming.status.failure ?? consumer.status.failure).map(completeRemedy),
                (publishing.status.failure ?? publisher.status.failure).map(completeRemedy),
                intake.publishFailure, intake.store.failure,
            ].compactMap(\.self))
    }

    /// Stops consuming, finishes the commands that have arrived, and closes the connections.
    ///
    /// Commands that are unfinished at the deadline return to their queue. Commands that wait for a store that accepts
    /// no changes also return. If `close` is called several times, the earliest deadline applies.
    public func close(deadlineSeconds: Int) async {
        maintenance.stop()
        let deadline = loop.now.monotonic + .seconds(deadlineSeconds)
        intake.stop(by: deadline)
        await consumer.stopConsuming(deadlineSeconds: deadlineSeconds)
        await intake.finish()
        await consumer.waitUntilSettled(by: loop.now.monotonic + .seconds(Lane.settleDeadlineSeconds))
        await writer.close()
        await publishing.close(deadlineSeconds: Lane.closeDeadlineSeconds)
        await consuming.close(deadlineSeconds: Lane.closeDeadlineSeconds)
    }
}
