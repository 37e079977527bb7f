import AMQP
import EventLoop
import Telemetry

/// Publishes replies to commands until the broker has them.
final class ReplyPublisher {
    private let publisher: Publisher
    private let admin: BrokerAdmin
    private let log: Log
    private let completeRemedy: @Sendable (String) -> String
    private let repeats: Counter
    private var outage = Outage()
    private let pauses = ContinuationList<Void>()
    /// Why a reply cannot be published; nil while they can.
    private(set) var failure: String?

    /// - Parameter admin: on another connection than the publisher's, which an alarm silences.
    init(
        _ publisher: Publisher, asking admin: BrokerAdmin, metrics: MetricsRegistry, log: Log,
        completeRemedy: @escaping @Sendable (String) -> String
    ) {
        self.completeRemedy = completeRemedy
        (self.publisher, self.admin, self.log) = (publisher, admin, log)
        repeats = LaneCounters.publishRepeats(metrics)
    }

    func start() { admin.start() }

    /// - Parameter isLate: whether it is to be given up.
    /// - Returns: whether the reply is done with.
    func publish(_ reply: ReplyDelivery, until isLate: () -> Bool) async -> Bool {
        var reply = reply
        defer { ended() }
        while !isLate() {
            let destination = reply.destination
            let (step, words) = await publishOnce(&reply)
            switch step {
            case .done:
                return true
            case .redirected(let why):
                // Somebody may want to know of the channel all the same.
                log.warning(
                    .channelReplyReturned,
                    [
                        .messageID: .string(reply.message.messageID),
                        .error: .string(completeRemedy("\(destination): \(why)")),
                    ])
            case .impossible(let refusal):
                log.error(.channelReplyReturned, [.error: .string(refusal.rawValue)])
                return true
            case .again(let milliseconds):
                repeats.add()
                if reply.repeats > ReplyDelivery.repeatsMax { stuck(completeRemedy("\(destination): \(words)")) }
                await pauses.wait(on: publisher.loop, for: .milliseconds(milliseconds), timeoutValue: {})
            }
        }
        return false
    }

    /// Ends the waits before a repeat, so that `publish` asks again whether it is late.
    func endPauses() { pauses.resume(returning: ()) }

    private func publishOnce(_ reply: inout ReplyDelivery) async -> (ReplyDelivery.Step, words: String) {
        if let consumer = reply.consumer {
            do throws(AMQPError) {
                guard try await admin.queueExists(consumer) else { return (reply.consumerHasGone(), "") }
            } catch {
                return (reply.ended(.unknown(error)), error.advice)
            }
        }
        let outcome = await publisher.publish(reply.message)
        return (reply.ended(outcome), outcome.advice)
    }

    private func stuck(_ reason: String) {
        failure = reason
        guard outage.lasts(publisher.loop.now.monotonic) != nil else { return }
        log.warning(.publishStuck, [.error: .string(reason), .publishRepeats: .integer(repeats.value)])
    }

    private func ended() {
        failure = nil
        guard let length = outage.ends(publisher.loop.now.monotonic) else { return }
        log.info(.publishResumed, [.durationMilliseconds: .milliseconds(length)])
    }
}
