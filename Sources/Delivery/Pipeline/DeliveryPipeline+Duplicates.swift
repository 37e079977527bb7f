import EventLoop
import Telemetry

/// Deduplication. The pipeline does not push a delivery whose request is in flight or was accepted by APNs. It also
/// does not push a delivery that was already settled.
extension DeliveryPipeline {
    func deduplicate(_ request: PushRequest, _ record: DeliveryRecord) {
        let push = PendingPush(request: request, key: duplicates.key(of: request, record))
        deduplicate(push, duplicates.candidate(record), record)
    }

    func deduplicate(_ audience: Audience, _ record: DeliveryRecord) {
        let pending = PendingAudience(audience: audience, key: duplicates.key(of: audience, record))
        deduplicate(pending, duplicates.candidate(record), record)
    }

    private func deduplicate(_ push: PendingPush, _ candidate: DuplicateCandidate, _ record: DeliveryRecord) {
        switch duplicates.begin(push.key, candidate, record, .push(push)) {
        case .first where session.role(of: record) == .expired:
            // An unexpired request with the same id and body must still be pushed.
            duplicates.forget(push.key)
            endExpired(record)
        case .first:
            if record.fanoutOrigin != nil, let expander, expander.isStale(record) {
                expander.recheck(push, record)
            } else {
                requestPermit(push, record)
            }
        // `firstEnded` resumes the record.
        case .inFlight: break
        // The memory keeps only the fact that APNs accepted the request.
        case .accepted: settleDuplicate(record.isBroadcast ? .acceptedBroadcast : .accepted, record)
        case .settled: acknowledgeDuplicate(record)
        }
    }

    private func deduplicate(_ audience: PendingAudience, _ candidate: DuplicateCandidate, _ record: DeliveryRecord) {
        switch duplicates.begin(audience.key, candidate, record, .audience(audience)) {
        // The memory never records a request to users as accepted, so that each duplicate of the request is expanded.
        case .first, .accepted: expander?.expand(audience, record)
        // `firstEnded` resumes the record.
        case .inFlight: break
        case .settled: acknowledgeDuplicate(record)
        }
    }

    /// Resumes a record that waited for the first delivery of its request.
    func firstEnded(
        _ end: DuplicateMemory.FirstEnd?, _ request: PendingRequest, _ candidate: DuplicateCandidate,
        _ record: DeliveryRecord
    ) {
        // If the channel was lost during the wait, the broker redelivers the request.
        guard session.holds(record) else { return acknowledgeDuplicate(record) }
        switch (end, request) {
        case (.same, _): acknowledgeDuplicate(record)
        case (nil, _) where lifecycle == .ended: abandon(record)
        // A duplicate of a request to users is expanded, and its children are duplicates.
        case (nil, _), (.shared, .audience): deduplicate(request, candidate, record)
        case (.shared(let verdict), .push): settleDuplicate(verdict, record)
        }
    }

    private func deduplicate(_ request: PendingRequest, _ candidate: DuplicateCandidate, _ record: DeliveryRecord) {
        switch request {
        case .push(let push): deduplicate(push, candidate, record)
        case .audience(let audience): deduplicate(audience, candidate, record)
        }
    }

    private func settleDuplicate(_ verdict: Verdict, _ record: DeliveryRecord) {
        // The request of the first delivery is in a wait queue. A later delivery of that request publishes the result.
        if case .wait = verdict, session.role(of: record) == .expired { return acknowledgeDuplicate(record) }
        metrics.counters.duplicates.add()
        record.isDuplicate = true
        settle(verdict.ofDuplicate(record.attempts), record)
    }

    private func acknowledgeDuplicate(_ record: DeliveryRecord) {
        metrics.counters.duplicates.add()
        metrics.counters.acknowledged.add()
        session.acknowledge(record)
        if let key = record.expansion?.key { duplicates.forget(key) }
        end(record)
    }
}

extension Verdict {
    /// Returns the verdict for a duplicate, without the error, which the first delivery already published. A wait keeps
    /// the duplicate's `possibleDuplicate`. The duplicate may have been pushed in an attempt that the first delivery
    /// does not count.
    fileprivate func ofDuplicate(_ attempts: Attempts) -> Verdict {
        switch self {
        case .conclude(var finalOutcome):
            finalOutcome.failure = nil
            return .conclude(finalOutcome)
        case .wait(var wait):
            wait.attempts.possibleDuplicate = wait.attempts.possibleDuplicate || attempts.possibleDuplicate
            return .wait(wait)
        case .again, .report, .quarantine, .requeue:
            return self
        }
    }
}
