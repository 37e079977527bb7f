import APNS
import APNSProtocol
import EventLoop
import Telemetry

extension Lane {
    /// Sends a push where nothing stands in its way, and says what follows for its message.
    ///
    /// - Parameter isItsTurn: whether it has been waited for what limits of its app allow.
    @inline(never) func send(
        _ notification: PushNotification, _ record: DeliveryRecord, isItsTurn: Bool = false
    ) async -> Verdict {
        if !isItsTurn, limits.apply(to: notification.app) { return await sendInTurn(notification, record) }
        return switch admit(notification, record) {
        case .send(let pass): await send(notification, pass, record)
        case .end(let verdict): verdict
        }
    }

    @inline(never) private func admit(_ notification: PushNotification, _ record: DeliveryRecord) -> Next {
        guard !notification.push.isExpired(unixSeconds: loop.now.unixSeconds) else {
            return .end(.conclude(Conclusion(outcome: .expired)))
        }
        routeUse.used(notification.route, loop.now.monotonic)
        switch breakers.admit(notification.route, loop.now.monotonic) {
        case .hold(let cause): return .end(hold(cause, notification, record))
        case .go(let pass): return .send(pass)
        }
    }

    @inline(__always) private func send(
        _ notification: PushNotification, _ first: Breakers.Pass, _ record: DeliveryRecord
    ) async -> Verdict {
        var pass = first
        while true {
            admitted(pass)
            let sentAt = loop.now.unixMilliseconds
            let outcome = await withUnsafeContinuation { push(notification, pass, record, $0) }
            switch next(after: outcome, notification, pass, sentAt, record) {
            case .send(let again): pass = again
            case .end(let verdict): return verdict
            }
        }
    }

    @inline(never) private func push(
        _ notification: PushNotification, _ pass: Breakers.Pass, _ record: DeliveryRecord,
        _ waiter: UnsafeContinuation<PushOutcome, Never>
    ) {
        pools[pass.route.pool].send(
            notification.push, priority: priorities[record.source], onFreshConnection: pass.needsFreshConnection,
            timing: record.trace?.push, waiter)
    }

    private enum Next {
        case send(Breakers.Pass)
        case end(Verdict)
    }

    @inline(never) private func next(
        after outcome: PushOutcome, _ notification: PushNotification, _ pass: Breakers.Pass,
        _ sentAtMilliseconds: Int64, _ record: DeliveryRecord
    ) -> Next {
        record.trace?.pushEnded(loop.now)
        if case .answered(let answer) = outcome { labels.answered(answer, record) }
        let consequence = breakers.record(
            outcome, of: notification.push.id, pass, loop.now.monotonic, random: loop.nextRandom())
        breakersChanged()
        switch consequence {
        case .sendAgain(let again):
            return .send(again)
        case .hold(let cause):
            return .end(hold(cause, notification, record))
        case .judge:
            note(outcome, sentAtMilliseconds, record)
            return .end(policy.verdict(on: outcome, of: subject(notification, record)))
        }
    }

    private func note(_ outcome: PushOutcome, _ sentAtMilliseconds: Int64, _ record: DeliveryRecord) {
        switch outcome {
        case .notSent: break
        case .unknown:
            counters.unknownOutcomes.add()
            record.sent(atMilliseconds: sentAtMilliseconds)
        case .answered: record.sent(atMilliseconds: sentAtMilliseconds)
        }
    }

    private func hold(
        _ cause: BreakerCause, _ notification: PushNotification, _ record: DeliveryRecord
    ) -> Verdict {
        counters.held.add()
        reviewHolding()
        return policy.hold(cause, of: subject(notification, record))
    }

    /// Its app has more to push than its limits allow.
    func waitForTurn(_ notification: PushNotification, _ record: DeliveryRecord, milliseconds: Int64) -> Verdict {
        let verdict = policy.hold(
            .appLimit, of: subject(notification, record), turnAfterMilliseconds: milliseconds)
        if case .wait = verdict { labels.waits(notification.app, atBroker: true) }
        return verdict
    }

    private func subject(_ notification: PushNotification, _ record: DeliveryRecord) -> OutcomePolicy.Subject {
        OutcomePolicy.Subject(
            notification: notification, attempts: record.attempts, nowMilliseconds: loop.now.unixMilliseconds)
    }
}
