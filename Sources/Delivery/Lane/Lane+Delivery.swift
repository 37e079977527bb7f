import AMQP
import APNS
import EventLoop
import Telemetry

extension Lane {
    /// The way of one message: read it, send it, tell what became of it, acknowledge it.
    func deliver(_ delivery: IncomingMessage) async {
        guard takesDeliveries else { return consumer.requeue(delivery.tag) }
        began()
        defer { ended() }
        let record = DeliveryRecord(of: delivery, receivedAtMilliseconds: loop.now.unixMilliseconds)
        switch reader.read(record) {
        case .failure(let refusal):
            await refuse(refusal, record)
        case .success(let notification):
            await deliver(notification, record)
        }
    }

    /// What cannot be read is told, and nothing is sent.
    private func refuse(_ refusal: Refusal, _ record: DeliveryRecord) async {
        guard await tell(Conclusion(invalid: refusal), record) else { return consumer.requeue(record.delivery.tag) }
        if record.delivery.isOversized {
            // Its body was not kept here: the broker itself moves it to the dead letters.
            consumer.reject(record.delivery.tag, requeue: false)
        } else {
            consumer.acknowledge(record.delivery.tag)
        }
    }

    private func deliver(_ notification: PushNotification, _ record: DeliveryRecord) async {
        let tag = record.delivery.tag
        let key = DuplicateMemory<DeliveryTag>.Key(notification)
        switch duplicates.begin(key, round: record.attempts.rounds, tag: tag, now: loop.now.monotonic) {
        case .joined:
            counters.duplicates.add()
        case .finished:
            counters.duplicates.add()
            consumer.acknowledge(tag)
        case .new:
            let verdict = await send(notification, record)
            if configuration.defects.acknowledgesBeforeConfirm { consumer.acknowledge(tag) }
            if await act(on: verdict, notification, record) {
                consumer.acknowledge(tag)
                for copy in duplicates.finish(key, now: loop.now.monotonic) { consumer.acknowledge(copy) }
            } else {
                consumer.requeue(tag)
                for copy in duplicates.abandon(key) { consumer.requeue(copy) }
            }
        }
    }

    private func send(_ notification: PushNotification, _ record: DeliveryRecord) async -> OutcomePolicy.Verdict {
        guard !notification.isExpired(unixSeconds: loop.now.unixSeconds) else {
            return .conclude(Conclusion(outcome: .expired))
        }
        let sentAt = loop.now.unixMilliseconds
        let outcome = await pools[notification.pool].send(notification.push)
        switch outcome {
        case .notSent: break
        case .unknown:
            counters.unknownOutcomes.add()
            record.sent(atMilliseconds: sentAt)
        case .answered: record.sent(atMilliseconds: sentAt)
        }
        return policy.verdict(on: outcome, of: notification, record.attempts, unixSeconds: loop.now.unixSeconds)
    }

    /// Returns whether the delivery may be acknowledged; otherwise it goes back to the queue.
    private func act(
        on verdict: OutcomePolicy.Verdict, _ notification: PushNotification, _ record: DeliveryRecord
    ) async -> Bool {
        switch verdict {
        case .conclude(let conclusion):
            return await tell(conclusion, record)
        case .retry(let retry):
            return await tryAgain(retry, record)
        case .requeue:
            counters.requeued.add()
            return false
        case .fault(let reason):
            fault(reason, pools[notification.pool].configuration)
            counters.requeued.add()
            return false
        }
    }
}

extension DuplicateMemory.Key {
    /// Two requests with one id are the same when they are for the same app and device.
    fileprivate init(_ notification: PushNotification) {
        var hash = FNV1a()
        hash.mix(notification.push.topic)
        switch notification.push.target {
        case .device(let token): hash.mix(token)
        }
        self.init(id: notification.push.id, target: hash.value)
    }
}
