import AMQP
import EventLoop
import Telemetry

/// A publisher of replies to commands, which repeats unconfirmed publishes.
final class ReplyPublisher {
    private let publisher: Publisher
    private let admin: BrokerAdmin
    private let log: Log
    private let completeRemedy: @Sendable (String) -> String
    /// The log event for a reply that is not delivered to the requester; nil to log no event.
    private let returnedEvent: LogEvent?
    private let repeats: Counter
    private var outage = Outage()
    private let pauses = ContinuationList<Void>()
    /// The reason why the current reply cannot be published; nil until `ReplyDelivery.repeatsMax` repeats at one
    /// destination have failed.
    private(set) var failure: String?
    private var failureChanged: () -> Void = {}

    /// Creates a publisher.
    ///
    /// - Parameters:
    ///   - admin: The admin that checks whether a consumer exists. Its connection must not be the connection of
    ///     `publisher`, which a resource alarm blocks.
    ///   - repeats: The counter of repeated publishes.
    ///   - returnedEvent: The log event for a reply that is not delivered to the requester; nil to log no event.
    init(
        _ publisher: Publisher, admin: BrokerAdmin, repeats: Counter, log: Log,
        returnedEvent: LogEvent? = .channelReplyReturned, completeRemedy: @escaping @Sendable (String) -> String
    ) {
        self.completeRemedy = completeRemedy
        (self.publisher, self.admin, self.log, self.returnedEvent) = (publisher, admin, log, returnedEvent)
        self.repeats = repeats
    }

    func start() { admin.start() }

    /// Registers an observer of `failure`.
    ///
    /// - Parameter failureChanged: Called when `failure` becomes nil or is no longer nil.
    func observeFailure(_ failureChanged: @escaping () -> Void) { self.failureChanged = failureChanged }

    /// Publishes a reply, and repeats the publish until it succeeds, no broker can accept the reply, or `isLate`
    /// returns true.
    ///
    /// - Parameter isLate: A function that returns whether to give up the reply.
    /// - Returns: false if the reply was given up because of `isLate`; otherwise true.
    func publish(_ reply: ReplyDelivery, until isLate: () -> Bool) async -> Bool {
        var reply = reply
        defer { ended() }
        while !isLate() {
            let destination = reply.destination
            let (step, advice) = await publishOnce(&reply)
            switch step {
            case .done:
                return true
            case .redirected(let reason):
                // Log the message ID, so that an operator can find the reply, which may contain the ID of a new
                // channel.
                guard let returnedEvent else { continue }
                log.warning(
                    returnedEvent,
                    [
                        .messageID: .string(reply.message.messageID),
                        .error: .string(completeRemedy("\(destination): \(reason)")),
                    ])
            case .impossible(let refusal):
                if let returnedEvent { log.error(returnedEvent, [.error: .string(refusal.rawValue)]) }
                return true
            case .again(let milliseconds):
                repeats.add()
                if reply.repeats > ReplyDelivery.repeatsMax { stuck(completeRemedy("\(destination): \(advice)")) }
                await pauses.wait(on: publisher.loop, for: .milliseconds(milliseconds), timeoutValue: {})
            }
        }
        return false
    }

    /// Ends the waits before repeats, so that `publish` checks `isLate` again.
    func endPauses() { pauses.resume(returning: ()) }

    private func publishOnce(_ reply: inout ReplyDelivery) async -> (ReplyDelivery.Step, advice: String) {
        if let consumer = reply.consumer {
            do throws(AMQPError) {
                guard try await admin.queueExists(consumer) else { return (reply.consumerMissing(), "") }
            } catch {
                return (reply.ended(.unknown(error)), error.advice)
            }
        }
        let outcome = await publisher.publish(reply.message)
        return (reply.ended(outcome), outcome.advice)
    }

    private func stuck(_ reason: String) {
        let isFirst = failure == nil
        failure = reason
        if outage.lasts(publisher.loop.now.monotonic) != nil {
            log.warning(.publishStuck, [.error: .string(reason), .publishRepeats: .integer(repeats.value)])
        }
        if isFirst { failureChanged() }
    }

    private func ended() {
        guard failure.take() != nil else { return }
        if let length = outage.ends(publisher.loop.now.monotonic) {
            log.info(.publishResumed, [.durationMilliseconds: .milliseconds(length)])
        }
        failureChanged()
    }
}
