import AMQP
import EventLoop
import Telemetry

extension Lane {
    /// Publishes what the verdict says: the dead letter, where somebody may have to act, and the result; or the request
    /// itself, which comes back. Then acknowledges the delivery. Returns whether the verdict was published: once it is, the
    /// message is never sent for it again, whatever becomes of the acknowledgement.
    @inline(never) func settle(_ verdict: Verdict, _ record: DeliveryRecord) async -> Bool {
        if case .requeue = verdict { return acknowledge(record, .ended) }
        record.endsNow(loop.now)
        let deadLetterEnd = hasDeadLetter(verdict, record) ? await publishDeadLetter(verdict, record) : .confirmed
        guard deadLetterEnd != .ended else { return acknowledge(record, .ended) }
        let end = await publish(message(of: verdict, record))
        return finish(verdict, record, end, deadLetterEnd)
    }

    @inline(never) private func publishDeadLetter(_ verdict: Verdict, _ record: DeliveryRecord) async -> PublishEnd {
        await publish(deadLetter(verdict, record))
    }

    @inline(never) private func finish(
        _ verdict: Verdict, _ record: DeliveryRecord, _ end: PublishEnd, _ deadLetterEnd: PublishEnd
    ) -> Bool {
        guard end != .ended else { return acknowledge(record, .ended) }
        switch verdict {
        case .conclude(let conclusion):
            note(conclusion, record)
            return acknowledge(record, deadLetterEnd)
        case .wait(let wait):
            if end == .confirmed { labels.retry(wait) }
            return acknowledge(record, end)
        case .requeue:
            return acknowledge(record, .ended)
        }
    }

    private func note(_ conclusion: Conclusion, _ record: DeliveryRecord) {
        if let reason = deadLetterReason(conclusion, record) { labels.deadLetter(reason) }
        labels.ended(record, conclusion.outcome)
        record.trace?.ended(conclusion)
        log(conclusion, of: record)
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
}

/// Not inlined: what it takes to make a message would be a part of each task's memory (decision 24).
extension Lane {
    @inline(never) private func hasDeadLetter(_ verdict: Verdict, _ record: DeliveryRecord) -> Bool {
        guard case .conclude(let conclusion) = verdict else { return false }
        return deadLetterReason(conclusion, record) != nil
    }

    @inline(never) private func deadLetter(_ verdict: Verdict, _ record: DeliveryRecord) -> OutgoingMessage? {
        guard case .conclude(let conclusion) = verdict, let reason = deadLetterReason(conclusion, record) else {
            return nil
        }
        return DeadLetterMessage.make(
            for: record, conclusion, because: reason, configuration.apps,
            failedAtMilliseconds: record.endedAtMilliseconds, exchange: configuration.names.deadExchange,
            worker: configuration.worker)
    }

    @inline(never) private func message(of verdict: Verdict, _ record: DeliveryRecord) -> OutgoingMessage? {
        switch verdict {
        case .conclude(let conclusion):
            return ResultMessage.make(
                for: record, conclusion, configuration.apps, finishedAtMilliseconds: record.endedAtMilliseconds,
                exchange: configuration.names.resultsExchange)
        case .wait(let wait):
            // One of several queues whose delays differ a little, so that a burst does not come back as a burst.
            let sibling = Int(wait.attempts.waitID % UInt32(WaitDelay.siblings))
            return WaitMessage.make(
                for: record, wait, sibling: sibling, failedAtMilliseconds: record.endedAtMilliseconds,
                names: configuration.names, worker: configuration.worker)
        case .requeue:
            return nil
        }
    }

    /// nil also for a body that was not kept: the broker moves it itself.
    private func deadLetterReason(_ conclusion: Conclusion, _ record: DeliveryRecord) -> DeadLetterReason? {
        record.delivery.isOversized ? nil : conclusion.deadLetter
    }
}
