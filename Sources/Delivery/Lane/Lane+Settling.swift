import AMQP
import EventLoop
import Telemetry

extension Lane {
    /// Publishes what the verdict says, then acknowledges the delivery. Returns whether the verdict was published: once
    /// it is, the message is never sent for it again, whatever becomes of the acknowledgement.
    func settle(_ verdict: Verdict, _ record: DeliveryRecord) async -> Bool {
        switch verdict {
        case .conclude: acknowledge(record, await publishConclusion(verdict, record))
        case .wait: acknowledge(record, await publishWait(verdict, record))
        case .requeue: acknowledge(record, .ended)
        }
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
    @inline(__always) private func publishConclusion(_ verdict: Verdict, _ record: DeliveryRecord) async -> PublishEnd {
        let end = await publish(deadLetter(verdict, record))
        guard end != .ended, await publish(result(verdict, record)) != .ended else { return .ended }
        concluded(verdict, record)
        return end
    }

    /// The request itself, which comes back.
    @inline(__always) private func publishWait(_ verdict: Verdict, _ record: DeliveryRecord) async -> PublishEnd {
        let end = await publish(waitMessage(verdict, record))
        if end == .confirmed, case .wait(let wait) = verdict { labels.retry(wait) }
        return end
    }
}

/// Not inlined: what it takes to make a message would be a part of each task's memory.
extension Lane {
    @inline(never) private func deadLetter(_ verdict: Verdict, _ record: DeliveryRecord) -> OutgoingMessage? {
        guard case .conclude(let conclusion) = verdict, let reason = deadLetterReason(conclusion, record) else {
            return nil
        }
        return DeadLetterMessage.make(
            for: record, conclusion, because: reason, configuration.apps,
            failedAtMilliseconds: loop.now.unixMilliseconds, exchange: configuration.names.deadExchange,
            worker: configuration.worker)
    }

    @inline(never) private func result(_ verdict: Verdict, _ record: DeliveryRecord) -> OutgoingMessage? {
        guard case .conclude(let conclusion) = verdict else { return nil }
        return ResultMessage.make(
            for: record, conclusion, configuration.apps, finishedAtMilliseconds: loop.now.unixMilliseconds,
            exchange: configuration.names.resultsExchange)
    }

    @inline(never) private func waitMessage(_ verdict: Verdict, _ record: DeliveryRecord) -> OutgoingMessage? {
        guard case .wait(let wait) = verdict else { return nil }
        // One of several queues whose delays differ a little, so that a burst does not come back as a burst.
        let sibling = Int(loop.nextRandom() % UInt64(WaitDelay.siblings))
        return WaitMessage.make(
            for: record, wait, sibling: sibling, failedAtMilliseconds: loop.now.unixMilliseconds,
            names: configuration.names, worker: configuration.worker)
    }

    @inline(never) private func concluded(_ verdict: Verdict, _ record: DeliveryRecord) {
        guard case .conclude(let conclusion) = verdict else { return }
        if let reason = deadLetterReason(conclusion, record) { labels.deadLetter(reason) }
        labels.ended(record, conclusion.outcome)
        record.trace?.ended(conclusion)
        log(conclusion, of: record)
    }

    /// nil also for a body that was not kept: the broker moves it itself.
    private func deadLetterReason(_ conclusion: Conclusion, _ record: DeliveryRecord) -> DeadLetterReason? {
        record.delivery.isOversized ? nil : conclusion.deadLetter
    }
}
