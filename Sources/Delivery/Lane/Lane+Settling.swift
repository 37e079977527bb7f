import AMQP
import EventLoop
import Telemetry

extension Lane {
    /// Publishes what the verdict says, then acknowledges the delivery. Returns whether the verdict was published: once
    /// it is, the message is never sent for it again, whatever becomes of the acknowledgement.
    func settle(_ verdict: Verdict, _ record: DeliveryRecord) async -> Bool {
        let published: PublishEnd
        switch verdict {
        case .conclude(let conclusion): published = await publish(conclusion, record)
        case .wait(let wait): published = await publish(wait, record)
        case .requeue: published = .ended
        }
        return acknowledge(record, published)
    }

    /// Once what it led to was published. Returns whether it was; else the broker delivers it again.
    func acknowledge(_ record: DeliveryRecord, _ published: PublishEnd) -> Bool {
        let consumer = consumers[record.source]
        switch published {
        case .confirmed where !record.delivery.isOversized:
            counters.acknowledged.add()
            consumer.acknowledge(record.delivery.tag)
        case .confirmed, .impossible:
            // Its body is not here, or cannot be published: the broker itself moves it to the dead letters.
            counters.rejected.add()
            consumer.reject(record.delivery.tag, requeue: false)
        case .ended:
            counters.requeued.add()
            consumer.requeue(record.delivery.tag)
            return false
        }
        return true
    }

    /// The dead letter, where somebody may have to act, and the result.
    private func publish(_ conclusion: Conclusion, _ record: DeliveryRecord) async -> PublishEnd {
        let now = loop.now.unixMilliseconds
        var end = PublishEnd.confirmed
        if let reason = conclusion.deadLetter, !record.delivery.isOversized {
            end = await publish(
                DeadLetterMessage.make(
                    for: record, conclusion, because: reason, configuration.apps, failedAtMilliseconds: now,
                    exchange: configuration.names.deadExchange, worker: configuration.worker))
            guard end != .ended else { return .ended }
            labels.deadLetter(reason)
        }
        let result = ResultMessage.make(
            for: record, conclusion, configuration.apps, finishedAtMilliseconds: now,
            exchange: configuration.names.resultsExchange)
        guard await publish(result) != .ended else { return .ended }
        labels.ended(record, conclusion.outcome)
        record.trace?.ended(conclusion)
        log(conclusion, of: record)
        return end
    }

    private func publish(_ wait: Wait, _ record: DeliveryRecord) async -> PublishEnd {
        // One of several queues whose delays differ a little, so that a burst does not come back as a burst.
        let sibling = Int(loop.nextRandom() % UInt64(WaitDelay.siblings))
        let end = await publish(
            WaitMessage.make(
                for: record, wait, sibling: sibling, failedAtMilliseconds: loop.now.unixMilliseconds,
                names: configuration.names, worker: configuration.worker))
        if end == .confirmed { labels.retry(wait) }
        return end
    }
}
