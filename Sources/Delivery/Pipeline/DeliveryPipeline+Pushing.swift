import APNS
import APNSProtocol
import EventLoop
import Telemetry

extension DeliveryPipeline {
    func requestPermit(_ push: PendingPush, _ record: DeliveryRecord) {
        if permits.isLimited(push.request.app) {
            permits.request(push, record)
        } else {
            dispatch(push, record)
        }
    }

    /// Pushes the request, unless it has expired, or an open breaker or a pause holds it.
    func dispatch(_ push: PendingPush, _ record: DeliveryRecord) {
        guard !push.request.push.isExpired(unixSeconds: loop.now.unixSeconds) else {
            return conclude(push, by: .conclude(FinalOutcome(outcome: .expired)), record)
        }
        switch dispatcher.admit(push.request.route) {
        case .hold(let reason): hold(push, because: reason, record)
        case .go(let admission): dispatcher.send(push, admission, record)
        }
    }

    /// Handles the outcome of a push, which the pool reports.
    func pushed(_ outcome: PushOutcome, _ push: InFlightPush, _ record: DeliveryRecord) {
        record.trace?.pushEnded(loop.now)
        if case .answered(let answer) = outcome { metrics.answered(answer, record) }
        let consequence = dispatcher.record(outcome, push)
        routes.applyBreakerChanges()
        switch consequence {
        case .judge:
            count(outcome, push, record)
            let verdict = dispatcher.policy.verdict(on: outcome, of: subject(push.pending.request, record))
            conclude(push.pending, by: verdict, record)
        case .sendAgain(let admission): dispatcher.send(push.pending, admission, record)
        case .hold(let reason): hold(push.pending, because: reason, record)
        }
    }

    private func count(_ outcome: PushOutcome, _ push: InFlightPush, _ record: DeliveryRecord) {
        switch outcome {
        case .notSent: break
        case .unknown:
            metrics.counters.unknownOutcomes.add()
            record.sent(atMilliseconds: push.sentAtMilliseconds)
        case .answered: record.sent(atMilliseconds: push.sentAtMilliseconds)
        }
    }

    /// Settles the first delivery of a request, and releases the permit of the request.
    func conclude(_ push: PendingPush, by verdict: Verdict, _ record: DeliveryRecord) {
        settle(verdict, record, of: push.key)
        if let grantedAt = push.permitGrantedAt {
            permits.release(push.request.app, grantedAt: grantedAt, in: self)
        }
    }

    func subject(_ request: PushRequest, _ record: DeliveryRecord) -> OutcomePolicy.Subject {
        OutcomePolicy.Subject(
            request: request, attempts: record.attempts, nowMilliseconds: loop.now.unixMilliseconds)
    }
}

/// Requests that an open breaker or an operator's pause holds.
extension DeliveryPipeline {
    /// Moves a held request to a wait queue, or completes it if it has no time left.
    ///
    /// The request first waits in the hold queue if the lane's pace is exceeded. It also waits there while the lane
    /// tests whether any endpoint accepts connections. A request in the hold queue stays unacknowledged, so the
    /// prefetch slows consumption down.
    ///
    /// - Parameter push: nil for a request to users.
    func hold(_ push: PendingPush?, because reason: HoldReason, _ record: DeliveryRecord) {
        guard !lifecycle.isLeaving, !dispatcher.holds.admit(isSuspended: routes.isInterrupted) else {
            return moveToWaitQueue(push, reason, record)
        }
        var push = push
        let grantedAt = push?.permitGrantedAt.take()
        dispatcher.holds.add((push, reason, record))
        moveHeld()
        if let push, let grantedAt { permits.release(push.request.app, grantedAt: grantedAt, in: self) }
    }

    private func moveToWaitQueue(_ push: PendingPush?, _ reason: HoldReason, _ record: DeliveryRecord) {
        metrics.counters.held.add()
        guard let push else { return settleHold(reason, record.attempts, record) }
        conclude(push, by: dispatcher.policy.hold(reason, of: subject(push.request, record)), record)
    }

    /// Schedules the next moves of held requests, unless a review of the routes is pending.
    func moveHeld() {
        dispatcher.holds.schedule(for: self, isSuspended: routes.isInterrupted)
    }

    func heldRequestsDue() {
        if routes.isInterrupted { return }
        while let next = dispatcher.holds.takeDue() { moveUnlessLost(next) }
        moveHeld()
    }

    /// Moves the request to a wait queue, unless the channel of its delivery was lost. In that case, the broker
    /// redelivers the request.
    private func moveUnlessLost(_ held: HeldRequests.Held) {
        if session.holds(held.record) {
            moveToWaitQueue(held.push, held.reason, held.record)
        } else if let push = held.push {
            conclude(push, by: .requeue, held.record)
        } else {
            settle(.requeue, held.record)
        }
    }

    /// Moves a request to users to a wait queue, or completes it if it has no time left.
    func settleHold(_ reason: HoldReason, _ attempts: Attempts, _ record: DeliveryRecord) {
        let now = loop.now.unixMilliseconds
        let deadline = record.expansion.map(\.audience.push.retryDeadline) ?? record.deadlineSeconds
        let verdict = dispatcher.policy.hold(
            reason, attempts, latestSeconds: deadline.map { $0 - now / 1000 }, nowMilliseconds: now)
        settle(verdict, record)
    }

    /// Moves all held requests regardless of the pace. A drain calls this method, since the broker would redeliver the
    /// requests that remain at the drain's deadline.
    func moveAllHeld() {
        dispatcher.holds.cancelTimer()
        while let next = dispatcher.holds.takeFirst() { moveUnlessLost(next) }
    }
}
