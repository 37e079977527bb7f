public import AMQP
import APNS
public import APNSProtocol
public import BrokerTopology
import Crypto
import EventLoop
public import Telemetry

/// Takes commands for broadcast channels from a queue, one at a time, and replies to each before it acknowledges it.
///
/// As a lane it consumes on one connection and publishes on another. Its outages are told in the log and in its status;
/// pushes go on without it.
///
/// `@unchecked Sendable`: belongs to one loop and is used on its thread only.
public final class ChannelCommandConsumer: @unchecked Sendable {
    /// Where the channels of one app are managed.
    public struct Place {
        public var manager: ChannelClient
        public var environment: APNSEnvironment

        public init(manager: ChannelClient, environment: APNSEnvironment) {
            (self.manager, self.environment) = (manager, environment)
        }
    }

    /// How it stands, for operators.
    public struct Status: Sendable, Hashable {
        public var isConsuming: Bool
        public var isPublishing: Bool
        /// What keeps it from either, a sentence each.
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
        /// To: busy.
        case idle
        /// One command is carried out. The others, delivered after a connection was lost, follow it. To: idle.
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
    /// Of `close`, while commands are left.
    private let closing = ContinuationList<Void>()
    /// Was replied to, but could not be acknowledged: it comes again.
    private var repliedTo: IncomingMessage?
    /// When all is left as it is; nil: not yet.
    private var deadline: MonotonicTime?

    /// To be called on the loop's thread.
    ///
    /// - Parameters:
    ///   - consuming: to be started and closed by it, as is the next.
    ///   - replyPrefix: of the queues that replies may go to beside direct reply-to; nil: to none.
    ///   - completeRemedy: as of a lane's configuration.
    ///   - find: where the channels of an app are managed, in its own environment or the one that is named.
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
            publisher, asking: BrokerAdmin(on: consuming), metrics: metrics, log: log,
            completeRemedy: completeRemedy)
        outages = BrokerOutageLog(of: "channels ", queues: [names.channelsQueue], completeRemedy: completeRemedy)
        counts = LabeledCounters(
            metrics, "martlet_channel_commands_total", help: "Commands for broadcast channels, by what became of them."
        ) { ["command": $0.command, "outcome": $0.outcome] }
    }

    public func start() {
        for connection in [consuming, publishing] { connection.start(BrokerEvents(self)) }
        consumer.start(Commands(self))
        publisher.start(BrokerEvents(self))
        replies.start()
    }

    /// Passes commands to the service.
    private final class Commands: ConsumerHandler {
        private let service: ChannelCommandConsumer

        init(_ service: ChannelCommandConsumer) { self.service = service }

        override func delivered(_ message: consuming IncomingMessage) { service.delivered(message) }

        override func statusChanged(_ status: BrokerStatus) { service.logOutages() }
    }

    /// Has the service log outages.
    private final class BrokerEvents: SessionHandler {
        private let service: ChannelCommandConsumer

        init(_ service: ChannelCommandConsumer) { self.service = service }

        override func statusChanged(_ status: BrokerStatus) { service.logOutages() }
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
                replies.failure.map { "the reply to a command cannot be published: \($0)" },
            ].compactMap(\.self))
    }

    /// Takes no more commands, finishes the one it has, and closes. What is not replied to by then is delivered again. Of
    /// several calls the earliest deadline counts, and all return at the end.
    public func close(deadlineSeconds: Int) async {
        let deadline = loop.now.monotonic + .seconds(deadlineSeconds)
        self.deadline = min(self.deadline ?? deadline, deadline)
        // One that came meanwhile is carried out: given back unread, a `create` would look as if it had been begun.
        await consumer.stopConsuming(deadlineSeconds: deadlineSeconds)
        await finishCommands()
        await consumer.untilSettled(by: loop.now.monotonic + .seconds(Lane.settleDeadlineSeconds))
        await publishing.close(deadlineSeconds: Lane.closeDeadlineSeconds)
        await consuming.close(deadlineSeconds: Lane.closeDeadlineSeconds)
    }

    private var isLate: Bool { deadline.map { $0 <= loop.now.monotonic } ?? false }

    /// Returns once no command is left, or at the deadline.
    private func finishCommands() async {
        guard case .busy = work, let deadline, !isLate else { return giveUp() }
        await closing.wait(on: loop, for: loop.now.monotonic.duration(to: deadline), timeoutValue: { self.giveUp() })
    }

    /// Requeues the commands that were not begun, and ends every wait for the one that was.
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
            Task(executorPreference: loop) { await self.carryOut(delivery) }
        }
    }

    private func carryOut(_ first: IncomingMessage) async {
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
        /// nil: there is nobody to be told.
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
            let report = await ask(read, at: place, mayHaveBeenDone: delivery.isRedelivered)
            told(read, report.outcome.rawValue)
            answer.body = ChannelReply.body(report, to: read, in: place.environment)
        } catch {
            told(command, "invalid", error.sentence)
            answer.body = ChannelReply.body(error, to: command)
        }
        return answer
    }

    /// What was delivered before may have been carried out: no second channel is made.
    private func ask(
        _ command: ChannelCommand, at place: Place, mayHaveBeenDone: Bool
    ) async -> ChannelResult {
        guard mayHaveBeenDone, case .create = command.request else {
            return await place.manager.ask(command.request, of: command.app, id: command.id)
        }
        var report = await place.manager.ask(.list, of: command.app, id: command.id)
        report.outcome = .unknown
        report.sentence =
            "It was delivered before and may have been carried out, so nothing was made now: look at the channels that "
            + "there are, then send a new command."
        return report
    }

    private func told(_ command: ChannelCommand?, _ outcome: String, _ error: String? = nil) {
        let word = command?.request.word ?? "-"
        counts.add(Count(command: word, outcome: outcome))
        log.info(
            .channelCommand,
            [
                .channelCommand: .string(word), .app: command.map { .string($0.app) },
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
