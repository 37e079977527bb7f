public import AMQP
import APNS
public import APNSProtocol
public import BrokerTopology
import Crypto
import EventLoop
public import Telemetry

/// A consumer of commands for broadcast channels. It executes one command at a time. It acknowledges a command after it
/// has published the reply, or if no broker can accept the reply.
///
/// Like a lane, the consumer uses one connection to consume and another to publish. The log and the status report
/// outages of the connections, which do not affect pushes.
///
/// `@unchecked Sendable`: loop-bound.
public final class ChannelCommandConsumer: @unchecked Sendable {
    /// The client for the channels of one app, and the environment of the channels.
    public struct Place {
        public var client: ChannelClient
        public var environment: APNSEnvironment

        public init(client: ChannelClient, environment: APNSEnvironment) {
            (self.client, self.environment) = (client, environment)
        }
    }

    /// The state of the consumer, for operators.
    public struct Status: Sendable, Hashable {
        public var isConsuming: Bool
        public var isPublishing: Bool
        /// The failures that prevent consuming or publishing, one sentence each; empty without a failure.
        public var reasons: [String]

        public init(isConsuming: Bool, isPublishing: Bool, reasons: [String]) {
            (self.isConsuming, self.isPublishing, self.reasons) = (isConsuming, isPublishing, reasons)
        }
    }

    private struct Count: Hashable {
        var command: String
        var outcome: String
    }

    private enum Work {
        /// No command in progress. To: busy.
        case idle
        /// One command in progress. `next`: the commands that wait, which arrived after a channel loss. To: idle.
        case busy(next: [IncomingMessage])
    }

    private static let prefetch = 1

    private let loop: EventLoop
    private let names: TopologyNames
    private let replyPrefix: String?
    private let find: (_ app: String, APNSEnvironment?) -> Result<Place, RequestViolation>
    private let log: Log
    private let completeRemedy: @Sendable (String) -> String
    private let consuming: BrokerConnection
    private let publishing: BrokerConnection
    private let consumer: Consumer
    private let publisher: Publisher
    private let replies: ReplyPublisher
    private var outages: BrokerOutageLog
    private var counts: LabeledCounters<Count>
    private var work = Work.idle
    /// The calls of `close` that wait for the commands in progress.
    private let closing = ContinuationList<Void>()
    /// The last command, if its reply was published but its delivery could not be acknowledged. The broker redelivers
    /// the command.
    private var repliedTo: IncomingMessage?
    /// The time at which `close` gives up the remaining commands; nil until `close` is called.
    private var deadline: MonotonicTime?

    /// Creates a consumer. Call this initializer on the loop's thread.
    ///
    /// - Parameters:
    ///   - consuming: The connection for commands.
    ///   - publishing: The connection for replies. The consumer starts and closes both connections.
    ///   - replyPrefix: The prefix of the names of the queues that may receive replies, besides direct reply-to; nil to
    ///     allow direct reply-to only.
    ///   - completeRemedy: A function that completes the commands in a remedy, as in `LaneConfiguration`.
    ///   - find: A function that returns the client and environment of an app, or the violation if the app has none. A
    ///     nil environment means the app's default environment.
    public init(
        consuming: BrokerConnection, publishing: BrokerConnection, names: TopologyNames, replyPrefix: String?,
        metrics: MetricsRegistry, log: Log, completeRemedy: @escaping @Sendable (String) -> String = { $0 },
        find: @escaping (_ app: String, APNSEnvironment?) -> Result<Place, RequestViolation>
    ) {
        loop = consuming.loop
        (self.consuming, self.publishing) = (consuming, publishing)
        self.names = names
        self.replyPrefix = replyPrefix
        self.find = find
        self.log = log
        self.completeRemedy = completeRemedy
        var configuration = ConsumerConfiguration(queue: names.channelsQueue, prefetch: Self.prefetch)
        configuration.messageBytesMax = ChannelCommand.bytesMax
        consumer = Consumer(on: consuming, configuration: configuration)
        publisher = Publisher(on: publishing)
        replies = ReplyPublisher(
            publisher, admin: BrokerAdmin(on: consuming), repeats: LaneCounters.publishRepeats(metrics), log: log,
            completeRemedy: completeRemedy)
        outages = BrokerOutageLog(of: "channels ", queues: [names.channelsQueue], completeRemedy: completeRemedy)
        counts = LabeledCounters(
            metrics, "martlet_channel_commands_total", help: "Commands for broadcast channels, by command and outcome."
        ) { ["command": $0.command, "outcome": $0.outcome] }
    }

    public func start() {
        for connection in [consuming, publishing] { connection.start(BrokerEvents(self)) }
        consumer.start(CommandEvents(self))
        publisher.start(BrokerEvents(self))
        replies.start()
    }

    private final class CommandEvents: ConsumerHandler {
        private let commands: ChannelCommandConsumer

        init(_ commands: ChannelCommandConsumer) { self.commands = commands }

        override func delivered(_ message: consuming IncomingMessage) { commands.delivered(message) }

        override func statusChanged(_ status: BrokerStatus) { commands.logOutages() }
    }

    private final class BrokerEvents: SessionHandler {
        private let commands: ChannelCommandConsumer

        init(_ commands: ChannelCommandConsumer) { self.commands = commands }

        override func statusChanged(_ status: BrokerStatus) { commands.logOutages() }
    }

    private func logOutages() {
        outages.update(
            consuming: consuming.status, publishing: publishing.status, publisher: publisher.status,
            consumers: [consumer.status], now: loop.now.monotonic, log)
    }

    public var status: Status {
        Status(
            isConsuming: consumer.status == .ready, isPublishing: publisher.status == .ready,
            reasons: [
                (consuming.status.failure ?? consumer.status.failure).map(completeRemedy),
                (publishing.status.failure ?? publisher.status.failure).map(completeRemedy),
                replies.failure.map { "cannot publish the reply to a command: \($0)" },
            ].compactMap(\.self))
    }

    /// Stops consuming, finishes the commands that have arrived, and closes both connections.
    ///
    /// The broker redelivers commands that have no reply at the deadline. If `close` is called several times, the
    /// earliest deadline applies.
    public func close(deadlineSeconds: Int) async {
        let deadline = loop.now.monotonic + .seconds(deadlineSeconds)
        self.deadline = min(self.deadline ?? deadline, deadline)
        // Execute commands that still arrive. After a requeue, the next consumer would treat a `create` as possibly
        // executed.
        await consumer.stopConsuming(deadlineSeconds: deadlineSeconds)
        await finishCommands()
        await consumer.waitUntilSettled(by: loop.now.monotonic + .seconds(Lane.settleDeadlineSeconds))
        await publishing.close(deadlineSeconds: Lane.closeDeadlineSeconds)
        await consuming.close(deadlineSeconds: Lane.closeDeadlineSeconds)
    }

    private var isLate: Bool { deadline.map { $0 <= loop.now.monotonic } ?? false }

    /// Returns when no command is in progress, or gives up the remaining commands at the deadline.
    private func finishCommands() async {
        guard case .busy = work, let deadline, !isLate else { return giveUp() }
        await closing.wait(on: loop, for: loop.now.monotonic.duration(to: deadline), timeoutValue: { self.giveUp() })
    }

    /// Requeues the commands that have not begun, and ends the waits of `replies` and of `close`.
    private func giveUp() {
        if case .busy(let next) = work {
            work = .busy(next: [])
            for delivery in next { consumer.requeue(delivery.tag) }
        }
        replies.endPauses()
        closing.resume(returning: ())
    }

    private func delivered(_ delivery: IncomingMessage) {
        guard !isLate else { return consumer.requeue(delivery.tag) }
        switch work {
        case .busy(let next): work = .busy(next: next + [delivery])
        case .idle:
            work = .busy(next: [])
            Task(executorPreference: loop) { await self.execute(delivery) }
        }
    }

    private func execute(_ first: IncomingMessage) async {
        var delivery: IncomingMessage? = first
        while let command = delivery {
            await handle(command)
            delivery = nextCommand()
        }
        work = .idle
        closing.resume(returning: ())
    }

    private func nextCommand() -> IncomingMessage? {
        guard case .busy(var next) = work, !next.isEmpty else { return nil }
        defer { work = .busy(next: next) }
        return next.removeFirst()
    }

    private func handle(_ delivery: IncomingMessage) async {
        guard !isLate, consumer.holds(delivery.tag) else { return consumer.requeue(delivery.tag) }
        if delivery.isRedelivered, let repliedTo, repliedTo.isSameCommand(as: delivery) {
            return consumer.acknowledge(delivery.tag)
        }
        let answer = await answer(delivery)
        let reply = ReplyDelivery(
            answer.message, to: answer.address,
            orElse: (names.resultsExchange, RoutingKey.channelReply(app: answer.app)))
        guard await replies.publish(reply, until: { isLate }) else { return }
        repliedTo = consumer.holds(delivery.tag) ? nil : delivery
        consumer.acknowledge(delivery.tag)
    }

    private struct Answer {
        var body: [UInt8] = []
        var app: String?
        /// The destination of the reply; nil if the command has no valid reply-to.
        var address: ReplyAddress?
        let properties: EchoedProperties

        init(_ properties: EchoedProperties) { self.properties = properties }

        var message: OutgoingMessage {
            var message = OutgoingMessage(
                exchange: "", routingKey: "", body: body, messageID: properties.messageID ?? ReplyDelivery.noID)
            message.correlationID = properties.correlationID
            message.type = ChannelReply.type
            return message
        }
    }

    private func answer(_ delivery: IncomingMessage) async -> Answer {
        var answer = Answer(EchoedProperties(delivery.properties))
        var command: ChannelCommand?
        do throws(RequestViolation) {
            let reply = Result { () throws(RequestViolation) in
                try ReplyAddress(delivery.properties.replyTo, prefix: replyPrefix, names)
            }
            answer.address = try? reply.get()
            if let violation = answer.properties.violation { throw violation }
            let read = try ChannelCommand(delivery)
            command = read
            answer.app = read.app
            _ = try reply.get()
            let place = try find(read.app, read.environment).get()
            let result = await perform(read, at: place, mayHaveBeenDone: delivery.isRedelivered)
            recordOutcome(read, result.outcome.rawValue)
            answer.body = ChannelReply.body(result, to: read, in: place.environment)
        } catch {
            recordOutcome(command, "invalid", error.sentence)
            answer.body = ChannelReply.body(error, to: command)
        }
        return answer
    }

    /// Performs the command. A redelivered `create` only lists the channels and has the outcome `unknown`, since a
    /// worker may already have created the channel.
    private func perform(
        _ command: ChannelCommand, at place: Place, mayHaveBeenDone: Bool
    ) async -> ChannelResult {
        guard mayHaveBeenDone, case .create = command.request else {
            return await place.client.perform(command.request, of: command.app, id: command.id)
        }
        var result = await place.client.perform(.list, of: command.app, id: command.id)
        result.outcome = .unknown
        result.sentence =
            "The command was redelivered and may already have been executed, so no channel was created now: check the "
            + "existing channels, then send a new command."
        return result
    }

    /// Counts and logs the outcome of a command.
    private func recordOutcome(_ command: ChannelCommand?, _ outcome: String, _ error: String? = nil) {
        let word = command?.request.word ?? "-"
        counts.add(Count(command: word, outcome: outcome))
        log.info(
            .channelCommand,
            [
                .channelCommand: .string(word), .app: command.map { .string(RedactedText.sentence($0.app)) },
                .messageID: command.map { .describing($0.id) }, .outcome: .string(outcome),
                .error: error.map { .string($0) },
            ])
    }
}

extension IncomingMessage {
    fileprivate func isSameCommand(as other: IncomingMessage) -> Bool {
        content.body == other.content.body && properties.messageID == other.properties.messageID
            && properties.correlationID == other.properties.correlationID
    }
}
