import AMQP
import APNS
import EventLoop
import Telemetry

extension Lane {
    /// The way of one message: read it, send it, publish what became of it, acknowledge it.
    func deliver(_ delivery: IncomingMessage, from source: Int) async {
        if backlog.count > 0 { await waitToBegin(delivery, source) }
        // Its channel may have been lost since it came: then it comes again, and this only gives back its bytes.
        guard consumers[source].holds(delivery.tag) else { return consumers[source].requeue(delivery.tag) }
        guard !state.isDraining else {
            counters.requeued.add()
            return consumers[source].requeue(delivery.tag)
        }
        let record = DeliveryRecord(of: delivery, from: source, loop.now)
        began(record)
        defer { ended(record) }
        if isPoison(delivery, source) { return await isolate(record) }
        let read = reader.read(record)
        if record.event != nil, record.trace == nil { beginTrace(record) }
        record.trace?.validated(loop.now)
        switch read {
        case .failure(let refusal):
            _ = await settle(.conclude(Conclusion(invalid: refusal)), record)
        case .success(let notification):
            await deliver(notification, record)
        }
    }

    /// A message that was delivered before is not sent again without need.
    private func deliver(_ notification: PushNotification, _ record: DeliveryRecord) async {
        let key = copies.key(id: notification.push.id, body: record.delivery.body)
        let fingerprint = copies.fingerprint(of: record.delivery.properties)
        let arrival = CopyArrival(record, on: channels[record.source], fingerprint: fingerprint)
        while true {
            switch copies.begin(key, arrival) {
            case .first:
                return await deliverFirst(notification, key, record)
            case .busy:
                let ending = await copies.ending(of: key, arrival)
                // Its channel may have been lost while it waited: then it comes again.
                guard consumers[record.source].holds(record.delivery.tag) else { return acknowledgeCopy(record) }
                switch ending {
                case .shared(let verdict): return await settleCopy(verdict, record)
                case .same: return acknowledgeCopy(record)
                case .none: continue
                }
            case .accepted:
                return await settleCopy(.conclude(.acceptedBefore), record)
            case .done:
                return acknowledgeCopy(record)
            }
        }
    }

    private func deliverFirst(_ notification: PushNotification, _ key: CopyKey, _ record: DeliveryRecord) async {
        let verdict = named(await send(notification, record))
        if case .wait(let wait) = verdict { copies.sendToWait(key, waitID: wait.attempts.waitID) }
        if await settle(verdict, record) {
            copies.settle(key, verdict, now: loop.now.monotonic)
        } else {
            copies.forget(key)
        }
    }

    /// Shares the verdict on the first of its kind, and says so.
    private func settleCopy(_ verdict: Verdict, _ record: DeliveryRecord) async {
        counters.duplicates.add()
        record.isDuplicate = true
        _ = await settle(named(verdict.ofACopy(record.attempts)), record)
    }

    /// Each wait has a name, by which what is published twice for want of a confirm is known.
    private func named(_ verdict: Verdict) -> Verdict {
        guard case .wait(var wait) = verdict else { return verdict }
        wait.attempts.waitID = drawWaitID()
        return .wait(wait)
    }

    func drawWaitID() -> UInt32 { max(1, UInt32(truncatingIfNeeded: loop.nextRandom())) }

    private func acknowledgeCopy(_ record: DeliveryRecord) {
        counters.duplicates.add()
        counters.acknowledged.add()
        consumers[record.source].acknowledge(record.delivery.tag)
    }
}

extension Conclusion {
    /// APNs' answer to the first, as far as it is remembered.
    fileprivate static let acceptedBefore = Conclusion(
        outcome: .accepted, answer: Answer(status: 200), tokenState: .valid)
}

extension Verdict {
    /// The first has a dead letter, with the same body. What is behind the copy may have been sent where the first was not.
    fileprivate func ofACopy(_ attempts: Attempts) -> Verdict {
        switch self {
        case .conclude(var conclusion):
            conclusion.deadLetter = nil
            return .conclude(conclusion)
        case .wait(var wait):
            wait.attempts.possibleDuplicate = wait.attempts.possibleDuplicate || attempts.possibleDuplicate
            return .wait(wait)
        case .requeue:
            return self
        }
    }
}
