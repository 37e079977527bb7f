import AMQP
import EventLoop
import Telemetry

extension Lane {
    /// Publishes what the verdict says: the dead letter, where somebody may have to act, and the result; or the request
    /// itself, which comes back. Then acknowledges the delivery, and ends it.
    func settle(_ verdict: Verdict, _ record: DeliveryRecord, of key: DeduplicationKey? = nil) {
        record.endsNow(loop.now)
        let verdict = named(verdict)
        if let key, case .wait(let wait) = verdict { copies.sendToWait(key, waitID: wait.attempts.waitID) }
        let part = hasDeadLetter(verdict, record) ? Settlement.Part.deadLetter : .last
        publish(
            Settlement(
                goOn: whenPublished, verdict: verdict, key: key, part: part, begunAt: loop.now.monotonic), record)
    }

    /// Each wait has a name, by which what is published twice for want of a confirm is known.
    private func named(_ verdict: Verdict) -> Verdict {
        guard case .wait(var wait) = verdict else { return verdict }
        wait.attempts.waitID = drawWaitID()
        return .wait(wait)
    }

    func drawWaitID() -> UInt32 { max(1, UInt32(truncatingIfNeeded: loop.nextRandom())) }

    private func publish(_ settlement: consuming Settlement, _ record: DeliveryRecord) {
        // Whatever is left at the drain's deadline comes back by the broker: what is published now might not be confirmed
        // in time, and come twice.
        guard !isEnding, let message = message(settlement, record) else { return conclude(settlement, .ended, record) }
        record.settlement = settlement
        publisher.publish(message, record)
    }

    /// The broker has said what became of what was published.
    func published(_ outcome: PublishOutcome, of settlement: consuming Settlement, _ record: DeliveryRecord) {
        note(outcome, begunAt: settlement.begunAt)
        if case .confirmed = outcome { return goOn(with: settlement, after: .confirmed, record) }
        publishAgain(settlement, after: outcome, record)
    }

    /// Made anew, the same but for what a repeat has to say or to leave out.
    private func publishAgain(_ settlement: Settlement, after outcome: PublishOutcome, _ record: DeliveryRecord) {
        guard let message = message(settlement, record) else { return conclude(settlement, .ended, record) }
        Task { goOn(with: settlement, after: await publishRepeatedly(message, after: outcome), record) }
    }

    private func goOn(with settlement: consuming Settlement, after end: RetryResult, _ record: DeliveryRecord) {
        guard settlement.part == .deadLetter, end != .ended else { return conclude(settlement, end, record) }
        settlement.deadLetterEnd = end
        settlement.part = .last
        settlement.begunAt = loop.now.monotonic
        publish(settlement, record)
    }

    private func conclude(_ settlement: Settlement, _ last: RetryResult, _ record: DeliveryRecord) {
        let isSettled = finish(settlement, last, record)
        // Once the verdict is published, the message is never sent for it again, whatever becomes of the acknowledgement.
        if let key = settlement.key { remember(key, settlement.verdict, isSettled: isSettled) }
        end(record)
    }

    /// Returns whether what it led to was published; else the broker delivers it again.
    private func finish(_ settlement: Settlement, _ last: RetryResult, _ record: DeliveryRecord) -> Bool {
        guard last != .ended else { return acknowledge(record, .ended) }
        switch settlement.verdict {
        case .conclude(let finalOutcome):
            note(finalOutcome, record)
            return acknowledge(record, settlement.deadLetterEnd)
        case .wait(let wait):
            if last == .confirmed { labels.retry(wait) }
            return acknowledge(record, last)
        case .requeue:
            return acknowledge(record, .ended)
        }
    }

    private func remember(_ key: DeduplicationKey, _ verdict: Verdict, isSettled: Bool) {
        if isSettled { copies.settle(key, verdict, now: loop.now.monotonic) } else { copies.forget(key) }
    }

    private func note(_ finalOutcome: FinalOutcome, _ record: DeliveryRecord) {
        if let reason = deadLetterReason(finalOutcome, record) { labels.deadLetter(reason) }
        labels.ended(record, finalOutcome.outcome)
        record.trace?.ended(finalOutcome)
        log(finalOutcome, of: record)
        noteQuarantine(record)
    }

    /// Once what it led to was published. Returns whether it was.
    func acknowledge(_ record: DeliveryRecord, _ published: RetryResult) -> Bool {
        let consumer = consumers[record.source]
        switch published {
        case .confirmed where !record.delivery.isOversized || isFromExpiredQueue(record):
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

extension Lane {
    private func hasDeadLetter(_ verdict: Verdict, _ record: DeliveryRecord) -> Bool {
        guard case .conclude(let finalOutcome) = verdict else { return false }
        return deadLetterReason(finalOutcome, record) != nil
    }

    /// nil: its verdict is to be delivered again.
    private func message(_ settlement: Settlement, _ record: DeliveryRecord) -> OutgoingMessage? {
        switch settlement.part {
        case .deadLetter: deadLetter(settlement.verdict, record)
        case .last: message(of: settlement.verdict, record)
        }
    }

    private func deadLetter(_ verdict: Verdict, _ record: DeliveryRecord) -> OutgoingMessage? {
        guard case .conclude(let finalOutcome) = verdict, let reason = deadLetterReason(finalOutcome, record) else {
            return nil
        }
        return DeadLetterMessage.make(
            for: record, finalOutcome, because: reason, configuration.apps,
            failedAtMilliseconds: record.endedAtMilliseconds, exchange: configuration.names.deadExchange,
            worker: identity)
    }

    private func message(of verdict: Verdict, _ record: DeliveryRecord) -> OutgoingMessage? {
        switch verdict {
        case .conclude(let finalOutcome):
            return ResultMessage.make(
                for: record, finalOutcome, configuration.apps, finishedAtMilliseconds: record.endedAtMilliseconds,
                exchange: configuration.names.resultsExchange)
        case .wait(let wait):
            // One of several queues whose delays differ a little, so that a burst does not come back as a burst.
            let sibling = Int(wait.attempts.waitID % UInt32(WaitDelay.siblings))
            return WaitMessage.make(
                for: record, wait, sibling: sibling, failedAtMilliseconds: record.endedAtMilliseconds,
                names: configuration.names, worker: identity)
        case .requeue:
            return nil
        }
    }

    /// nil also for a body that was not kept: the broker moves it itself.
    private func deadLetterReason(_ finalOutcome: FinalOutcome, _ record: DeliveryRecord) -> DeadLetterReason? {
        record.delivery.isOversized ? nil : finalOutcome.deadLetter
    }
}
