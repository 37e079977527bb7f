import AMQP
import APNS
import EventLoop
import Telemetry

extension Lane {
    /// The way of one message: read it, send it, tell what became of it, acknowledge it.
    func deliver(_ delivery: IncomingMessage) async {
        guard takesDeliveries else { return consumer.release(delivery.tag) }
        began()
        defer { ended() }
        let account = Account(of: delivery, receivedAtMilliseconds: loop.now.unixMilliseconds)
        switch reader.read(account) {
        case .failure(let refusal):
            await refuse(refusal, account)
        case .success(let notification):
            await deliver(notification, account)
        }
    }

    /// What cannot be read is told, and nothing is sent.
    private func refuse(_ refusal: Refusal, _ account: Account) async {
        guard await tell(Conclusion(invalid: refusal), account) else { return }
        if account.delivery.isOversized {
            // Its body was not kept here: the broker itself moves it to the dead letters.
            consumer.reject(account.delivery.tag, requeue: false)
        } else {
            consumer.acknowledge(account.delivery.tag)
        }
    }

    private func deliver(_ notification: PushNotification, _ account: Account) async {
        let tag = account.delivery.tag
        switch duplicates.begin(notification.push.id, attempt: account.attempts.before, tag: tag) {
        case .joined:
            counters.duplicates.add()
        case .finished:
            counters.duplicates.add()
            consumer.acknowledge(tag)
        case .new:
            let verdict = await send(notification, account)
            if configuration.defects.acknowledgesBeforeConfirm { consumer.acknowledge(tag) }
            if await act(on: verdict, account) {
                consumer.acknowledge(tag)
                for copy in duplicates.finish(notification.push.id) { consumer.acknowledge(copy) }
            } else {
                consumer.release(tag)
                for copy in duplicates.abandon(notification.push.id) { consumer.release(copy) }
            }
        }
    }

    private func send(_ notification: PushNotification, _ account: Account) async -> OutcomePolicy.Verdict {
        guard !notification.isExpired(unixSeconds: loop.now.unixSeconds) else {
            return .conclude(Conclusion(outcome: .expired))
        }
        account.sentAtMilliseconds = loop.now.unixMilliseconds
        account.attemptsMade = account.attempts.before + 1
        let outcome = await pools[notification.pool].send(notification.push)
        if case .unknown = outcome { counters.unknownOutcomes.add() }
        return policy.verdict(on: outcome, of: notification, account.attempts, unixSeconds: loop.now.unixSeconds)
    }

    /// Returns whether the delivery may be acknowledged; otherwise it goes back to the queue.
    private func act(on verdict: OutcomePolicy.Verdict, _ account: Account) async -> Bool {
        switch verdict {
        case .conclude(let conclusion):
            return await tell(conclusion, account)
        case .retry(let retry):
            return await tryAgain(retry, account)
        case .putBack:
            counters.putBack.add()
            return false
        case .fault(let reason):
            fault(reason)
            counters.putBack.add()
            return false
        }
    }
}
