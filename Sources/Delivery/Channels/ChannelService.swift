public import AMQP
import APNS
public import APNSProtocol
import Crypto
public import EventLoop
public import Telemetry

/// Takes commands for broadcast channels from a queue, one at a time, and replies to each before it acknowledges it.
///
/// `@unchecked Sendable`: belongs to one loop and is used on its thread only.
public final class ChannelService: @unchecked Sendable {
    /// Where the channels of one app are managed.
    public struct Place {
        public var manager: ChannelManager
        public var environment: APNSEnvironment

        public init(manager: ChannelManager, environment: APNSEnvironment) {
            (self.manager, self.environment) = (manager, environment)
        }
    }

    private struct Count: Hashable {
        var command: String
        var outcome: String
    }

    private static let prefetch = 1
    /// Delay before a reply is published again, in milliseconds; doubles up to the largest.
    private static let repeatDelayMilliseconds = 100
    private static let repeatDelayMillisecondsMax = 10_000
    private static let lookMilliseconds: Int64 = 50

    private let loop: EventLoop
    private let names: TopologyNames
    private let replyPrefix: String?
    private let find: (_ app: String, APNSEnvironment?) -> Result<Place, Refusal>
    private let log: Log
    private let connection: BrokerConnection
    private let consumer: Consumer
    private let publisher: Publisher
    private var counts: LabeledCounters<Count>
    /// Commands that are carried out or replied to: more than one only after their connection was lost.
    private var underWay = 0
    /// When all is left as it is; nil: not yet.
    private var deadline: MonotonicTime?

    /// To be called on the loop's thread.
    ///
    /// - Parameters:
    ///   - replyPrefix: of the queues that replies may go to beside direct reply-to; nil: to none.
    ///   - find: where the channels of an app are managed, in its own environment or the one that is named.
    public init(
        loop: EventLoop, connectors: [ByteConnector], connection configuration: ConnectionConfiguration,
        names: TopologyNames, replyPrefix: String?, metrics: MetricsRegistry, log: Log,
        find: @escaping (_ app: String, APNSEnvironment?) -> Result<Place, Refusal>
    ) {
        self.loop = loop
        self.names = names
        self.replyPrefix = replyPrefix
        self.find = find
        self.log = log
        connection = BrokerConnection(loop: loop, connectors: connectors, configuration: configuration)
        var consuming = ConsumerConfiguration(queue: names.channelsQueue, prefetch: Self.prefetch)
        consuming.messageBytesMax = ChannelCommand.bytesMax
        consumer = Consumer(on: connection, configuration: consuming)
        publisher = Publisher(on: connection, configuration: PublisherConfiguration())
        counts = LabeledCounters(
            metrics, "martlet_channel_commands_total", help: "Commands for broadcast channels, by what became of them."
        ) { ["command": $0.command, "outcome": $0.outcome] }
    }

    public func start() {
        consumer.onDelivery = { [self] delivery in
            underWay += 1
            Task(executorPreference: loop) {
                await self.handle(delivery)
                self.underWay -= 1
            }
        }
        connection.start()
    }

    /// Takes no more commands, finishes the one it has, and closes. What is not replied to by then is delivered again. Of
    /// several calls the earliest deadline counts, and all return at the end.
    public func close(deadlineSeconds: Int) async {
        let deadline = loop.now.monotonic + .seconds(deadlineSeconds)
        self.deadline = min(self.deadline ?? deadline, deadline)
        // One that came meanwhile is carried out: given back unread, a `create` would look as if it had been begun.
        await consumer.stopConsuming(deadlineSeconds: deadlineSeconds)
        while underWay > 0, !isLate { await loop.sleep(for: .milliseconds(Self.lookMilliseconds)) }
        await consumer.untilSettled(by: loop.now.monotonic + .seconds(Lane.settleDeadlineSeconds))
        await connection.close(deadlineSeconds: Lane.closeDeadlineSeconds)
    }

    private var isLate: Bool { deadline.map { $0 <= loop.now.monotonic } ?? false }

    private func handle(_ delivery: IncomingMessage) async {
        guard !isLate, consumer.holds(delivery.tag) else { return consumer.requeue(delivery.tag) }
        let answer = await answer(delivery)
        if await publish(answer, to: delivery) { consumer.acknowledge(delivery.tag) }
    }

    private struct Answer {
        var body: [UInt8]
        var app: String?
        /// nil: there is nobody to be told.
        var address: ReplyAddress?
    }

    private func answer(_ delivery: IncomingMessage) async -> Answer {
        var answer = Answer(body: [])
        var command: ChannelCommand?
        do throws(Refusal) {
            let reply = Result { () throws(Refusal) in
                try ReplyAddress(delivery.properties.replyTo, prefix: replyPrefix, names)
            }
            answer.address = try? reply.get()
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
    ) async -> ChannelReport {
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

    /// Whether the broker has it.
    private func publish(_ answer: Answer, to delivery: IncomingMessage) async -> Bool {
        let properties = delivery.properties
        var message = OutgoingMessage(
            exchange: "", routingKey: answer.address?.queue ?? "", body: answer.body,
            messageID: "\(properties.messageID ?? "-")")
        message.correlationID = properties.correlationID
        message.type = ChannelReply.type
        if answer.address == nil { redirect(&message, answer.app) }
        var delay = Self.repeatDelayMilliseconds
        while !isLate {
            switch await publisher.publish(message) {
            case .confirmed:
                return true
            case .returned where message.exchange.isEmpty:
                // Who asked has gone; somebody may want to know of the channel all the same.
                log.warning(.channelReplyReturned, [.messageID: .string(message.messageID)])
                redirect(&message, answer.app)
            case .refused(let refusal):
                log.error(.channelReplyReturned, [.error: .string(refusal.rawValue)])
                return true
            case .returned, .nacked, .unknown, .notSent:
                await loop.sleep(for: .milliseconds(delay))
                delay = min(delay * 2, Self.repeatDelayMillisecondsMax)
            }
        }
        return false
    }

    private func redirect(_ message: inout OutgoingMessage, _ app: String?) {
        message.exchange = names.resultsExchange
        message.routingKey = RoutingKey.channelReply(app: app)
    }
}
