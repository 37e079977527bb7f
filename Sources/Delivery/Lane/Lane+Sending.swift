import APNS
import APNSProtocol
import EventLoop
import Telemetry

extension Lane {
    /// Sends a push when and where nothing stands in its way, and settles its message by what became of it.
    func send(_ sending: PendingPush, _ record: DeliveryRecord) {
        if limits.apply(to: sending.notification.app) {
            sendInTurn(sending, record)
        } else {
            sendNow(sending, record)
        }
    }

    func sendNow(_ sending: PendingPush, _ record: DeliveryRecord) {
        let notification = sending.notification
        guard !notification.push.isExpired(unixSeconds: loop.now.unixSeconds) else {
            return conclude(sending, by: .conclude(FinalOutcome(outcome: .expired)), record)
        }
        switch breakers.admit(notification.route, loop.now.monotonic) {
        case .hold(let cause): hold(sending, because: cause, record)
        case .go(let pass): push(sending, pass, record)
        }
    }

    private func push(_ sending: PendingPush, _ pass: AdmittedPush, _ record: DeliveryRecord) {
        record.flight = InFlightPush(
            goOn: whenPushed, sending: sending, pass: pass, sentAtMilliseconds: loop.now.unixMilliseconds)
        pools[pass.route.pool].send(
            sending.notification.push, priority: priorities[record.source],
            onFreshConnection: pass.needsFreshConnection, timing: record.trace?.push, record)
    }

    /// The pool has said what became of the push.
    func pushed(_ outcome: PushOutcome, of flight: InFlightPush, _ record: DeliveryRecord) {
        let sending = flight.sending
        record.trace?.pushEnded(loop.now)
        if case .answered(let answer) = outcome { labels.answered(answer, record) }
        let consequence = breakers.record(
            outcome, of: sending.notification.push.id, flight.pass, loop.now.monotonic, random: loop.nextRandom())
        breakersChanged()
        switch consequence {
        case .sendAgain(let pass):
            push(sending, pass, record)
        case .hold(let cause):
            hold(sending, because: cause, record)
        case .judge:
            note(outcome, flight.sentAtMilliseconds, record)
            let verdict = policy.verdict(on: outcome, of: subject(sending.notification, record))
            conclude(sending, by: verdict, record)
        }
    }

    func conclude(_ sending: PendingPush, by verdict: Verdict, _ record: DeliveryRecord) {
        settle(verdict, record, of: sending.key)
        if let begunAt = sending.turnBegunAt { endTurn(of: sending.notification.app, begunAt: begunAt) }
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

    func subject(_ notification: PushRequest, _ record: DeliveryRecord) -> OutcomePolicy.Subject {
        OutcomePolicy.Subject(
            notification: notification, attempts: record.attempts, nowMilliseconds: loop.now.unixMilliseconds)
    }
}
