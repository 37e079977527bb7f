import AMQP
import EventLoop
import Telemetry

extension DeliveryPipeline {
    /// Publishes the messages of the verdict (`PublishPlan`) one after the other, and waits for each confirm. Then
    /// acknowledges, rejects or requeues the delivery, and ends the record.
    func settle(_ verdict: Verdict, _ record: DeliveryRecord, of key: DeduplicationKey? = nil) {
        record.recordVerdict(loop.now)
        let verdict = withWaitID(verdict)
        if let waitID = verdict.waitID {
            if let key { duplicates.sendToWait(key, waitID: waitID) }
            if let key = record.expansion?.key { duplicates.sendToWait(key, waitID: waitID) }
        }
        if messages.hasRegistrations, case .conclude(let finalOutcome) = verdict {
            record.refusal = messages.refusal(finalOutcome, record)
        }
        let plan = PublishPlan(verdict, record, hasChildren: record.hasPublishedChildren(trusting: messages.identity))
        publishNext(Settlement(verdict: verdict, key: key, plan: plan, publishedAt: loop.now.monotonic), record)
    }

    /// Returns a wait or a return to the queue with a new wait id, and any other verdict unchanged. The id identifies a
    /// request that is published twice because a confirm is missing.
    private func withWaitID(_ verdict: Verdict) -> Verdict {
        switch verdict {
        case .wait(var wait):
            wait.attempts.waitID = nextWaitID()
            return .wait(wait)
        case .again(var attempts):
            attempts.waitID = nextWaitID()
            return .again(attempts)
        case .conclude, .report, .quarantine, .requeue:
            return verdict
        }
    }

    func nextWaitID() -> UInt32 { max(1, UInt32(truncatingIfNeeded: loop.nextRandom())) }

    /// Publishes the next message of the plan. Completes the settlement when the plan is empty.
    private func publishNext(_ settlement: consuming Settlement, _ record: DeliveryRecord) {
        guard !settlement.plan.isEmpty else { return complete(settlement, record) }
        // The broker redelivers a delivery that is unfinished at the drain's deadline. A message published now might
        // not be confirmed in time, and would then be published twice.
        guard lifecycle != .ended else { return abandon(record, settlement.key) }
        let message = messages.next(of: settlement, record)
        messages.journal?.record(message, of: settlement, record)
        settlement.publishedAt = loop.now.monotonic
        publish(message, settlement, record)
    }

    func publish(_ message: OutgoingMessage, _ settlement: consuming Settlement, _ record: DeliveryRecord) {
        record.stage = .publishing(settlement)
        session.publisher.publish(message, record)
    }

    /// Handles the outcome of a publish, which the publisher reports.
    func published(_ outcome: PublishOutcome, _ settlement: consuming Settlement, _ record: DeliveryRecord) {
        metrics.published(outcome, since: settlement.publishedAt, loop.now.monotonic)
        guard case .confirmed = outcome else {
            if case .again = settlement.verdict, outcome.isRefusedByQueue, let expander {
                // The message to the wait queue replaces this message, and has another wait id.
                if settlement.retry?.mayBePublished == true { record.markPossibleDuplicate() }
                if settlement.retry != nil { retrier.finish(&settlement, in: self) }
                return expander.holdFanout(record, madeProgress: true)
            }
            return retrier.retry(settlement, after: outcome, record)
        }
        if settlement.retry != nil { retrier.finish(&settlement, in: self) }
        settlement.plan.removeFirst()
        publishNext(settlement, record)
    }

    /// Skips the first message of the plan, which can never be published.
    func publishFailed(_ settlement: consuming Settlement, _ record: DeliveryRecord) {
        // A request completes even without its result, its report, or a command about registrations.
        if ![.result, .report, .registration].contains(settlement.plan.first) { settlement.mustReject = true }
        settlement.plan.removeFirst()
        publishNext(settlement, record)
    }

    /// Requeues the delivery without an outcome, and ends the record. With a key, forgets the request of the key.
    func abandon(_ record: DeliveryRecord, _ key: DeduplicationKey? = nil) {
        metrics.counters.requeued.add()
        session.requeue(record)
        if let key { duplicates.forget(key) }
        if let key = record.expansion?.key { duplicates.forget(key) }
        end(record)
    }

    private func complete(_ settlement: Settlement, _ record: DeliveryRecord) {
        switch settlement.verdict {
        case .conclude(let finalOutcome): report(finalOutcome, record)
        case .wait(let wait): if !settlement.mustReject { metrics.retry(wait) }
        case .again, .report, .quarantine: break
        case .requeue: return abandon(record, settlement.key)
        }
        // The broker dead-letters a request that the worker could not dead-letter or republish, or whose oversized body
        // the worker dropped.
        if settlement.mustReject || (record.delivery.isOversized && session.role(of: record) != .expired) {
            reject(record)
        } else {
            metrics.counters.acknowledged.add()
            session.acknowledge(record)
        }
        if case .quarantine = settlement.verdict { reportQuarantine(record) }
        // The verdict is published. If the acknowledgment is lost, the redelivery is not pushed.
        if let key = settlement.key { duplicates.settle(key, settlement.verdict) }
        // Whatever the verdict, a duplicate of a request to users is expanded, and its children are duplicates.
        if let key = record.expansion?.key { duplicates.settle(key, .report) }
        end(record)
    }

    /// Counts the delivery as rejected, and rejects it without requeue. The broker dead-letters the request.
    func reject(_ record: DeliveryRecord) {
        metrics.counters.rejected.add()
        session.reject(record)
    }

    private func report(_ finalOutcome: FinalOutcome, _ record: DeliveryRecord) {
        if let reason = finalOutcome.deadLetter, !record.delivery.isOversized { metrics.deadLetter(reason) }
        metrics.ended(record, finalOutcome.outcome)
        record.trace?.ended(finalOutcome)
        log(finalOutcome, of: record)
        reportQuarantineEnd(record)
    }
}

extension PublishOutcome {
    /// Whether no queue is bound for the message, or a queue refused the message.
    fileprivate var isRefusedByQueue: Bool {
        switch self {
        case .returned, .nacked: true
        case .confirmed, .unknown, .notSent, .refused: false
        }
    }
}

extension PublishPlan {
    fileprivate init(_ verdict: Verdict, _ record: DeliveryRecord, hasChildren: @autoclosure () -> Bool) {
        switch verdict {
        case .conclude(let finalOutcome):
            let hasDeadLetter = finalOutcome.deadLetter != nil && !record.delivery.isOversized
            self = hasDeadLetter ? [.deadLetter, .result] : .result
            // The result does not count the children that were published.
            if hasChildren() { insert(.report) }
            if record.refusal != nil { insert(.registration) }
        case .wait: self = .wait
        case .again: self = .again
        case .report: self = .report
        case .quarantine: self = .quarantine
        case .requeue: self = []
        }
    }
}
