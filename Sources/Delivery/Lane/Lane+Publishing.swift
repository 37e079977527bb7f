import AMQP
import EventLoop
import Telemetry

extension Lane {
    /// Delay before a publish is repeated, in milliseconds; doubles up to the largest.
    private static let repeatDelayMilliseconds = 100
    private static let repeatDelayMillisecondsMax = 10_000
    private static let repeatLogIntervalSeconds = 60
    /// Returns of one message after which its queue is taken for missing.
    private static let returnsMax = 8

    /// Publishes the result and, where somebody may have to act, the dead letter. Returns whether the broker confirmed
    /// both: then, and only then, the delivery may be acknowledged.
    func tell(_ conclusion: Conclusion, _ record: DeliveryRecord) async -> Bool {
        let now = loop.now.unixMilliseconds
        if let reason = conclusion.deadLetter, !record.delivery.isOversized {
            let letter = DeadLetterMessage.make(
                for: record, conclusion, because: reason, configuration.apps, failedAtMilliseconds: now,
                exchange: configuration.names.deadExchange, origin: origin)
            guard await publish(letter) else { return false }
            counters.deadLetters.add()
        }
        let result = ResultMessage.make(
            for: record, conclusion, configuration.apps, finishedAtMilliseconds: now,
            exchange: configuration.names.resultsExchange)
        guard await publish(result) else { return false }
        counters.count(conclusion.outcome)
        return true
    }

    func tryAgain(_ retry: Retry, _ record: DeliveryRecord) async -> Bool {
        let message = RetryMessage.make(
            for: record, retry, failedAtMilliseconds: loop.now.unixMilliseconds,
            exchange: configuration.names.waitQueue(
                retry.wait, sibling: Int(loop.nextRandom() % UInt64(WaitDelay.siblings))),
            origin: origin)
        guard await publish(message) else { return false }
        counters.retries.add()
        return true
    }

    /// Publishes until the broker has confirmed; a copy that was confirmed without our knowing has the same message id.
    ///
    /// Gives up when the lane ends, and when it cannot be published at all: then the lane consumes no more, because what
    /// it takes could not be told of.
    private func publish(_ message: OutgoingMessage) async -> Bool {
        var delay = Self.repeatDelayMilliseconds
        var returns = 0
        while !isEnding {
            let outcome = await publisher.publish(message)
            switch outcome {
            case .confirmed: return true
            case .refused(let refusal):
                fault("a message to \(message.exchange) cannot be published: \(refusal)")
                return false
            case .returned(_, let text):
                returns += 1
                guard returns < Self.returnsMax else {
                    fault(
                        "no queue takes \(message.routingKey) from \(message.exchange) (\(text)): "
                            + "does martlet topology apply mend it?")
                    return false
                }
            case .nacked, .unknown, .notSent: break
            }
            if isEnding { return false }
            counters.publishRepeats.add()
            logRepeat(of: message, outcome)
            await loop.sleep(for: .milliseconds(delay))
            delay = min(delay * 2, Self.repeatDelayMillisecondsMax)
        }
        return false
    }

    /// All repeats are counted, and one is logged now and then: with the broker away every message on its way repeats.
    private func logRepeat(of message: OutgoingMessage, _ outcome: PublishOutcome) {
        let now = loop.now.monotonic
        if let last = repeatLoggedAt, last.duration(to: now) < .seconds(Self.repeatLogIntervalSeconds) { return }
        repeatLoggedAt = now
        log.warning(
            "A publish was not confirmed and is repeated",
            [
                .amqpExchange: .string(message.exchange), .error: .string("\(outcome)"),
                .publishRepeats: .integer(counters.publishRepeats.value),
            ])
    }
}
