import AMQP
import APNS
import EventLoop
import Telemetry

extension Lane {
    /// The way of one message: read it, send it, and settle it, which publishes what became of it and acknowledges it. Whatever
    /// settles or acknowledges a delivery ends it.
    @inline(__always) func deliver(_ record: consuming DeliveryRecord) async {
        if backlog.count > 0 { await waitToBegin(record) }
        guard begin(record) else { return }
        if isPoison(record) { return await isolate(record) }
        switch read(record) {
        case .refused(let verdict): settle(verdict, record)
        case .request(let notification): await deliver(notification, record)
        }
    }

    /// False where it is given back instead. As the others that do not wait, it stays out of the memory of those that do.
    @inline(never) private func begin(_ record: DeliveryRecord) -> Bool {
        let consumer = consumers[record.source]
        // Its channel may have been lost since it came: then it comes again, and this only gives back its bytes.
        guard consumer.holds(record.delivery.tag) else {
            consumer.requeue(record.delivery.tag)
            return false
        }
        guard !state.isDraining else {
            counters.requeued.add()
            consumer.requeue(record.delivery.tag)
            return false
        }
        inFlight += 1
        counters.inFlight.add(1)
        labels.delivered(from: record.source, isRedelivered: record.delivery.isRedelivered)
        beginTrace(record)
        if let age = record.ageNanoseconds { counters.age.observe(age) }
        return true
    }

    /// To be called last, when its delivery is settled.
    @inline(never) func end(_ record: DeliveryRecord) {
        inFlight -= 1
        counters.inFlight.add(-1)
        endTrace(record)
        counters.whole.observe(record.receivedAt, loop.now.monotonic)
        record.whenEnded.take()?.resume()
        if inFlight == 0 { idle() }
    }

    private enum Reading {
        case request(PushNotification)
        case refused(Verdict)
    }

    @inline(never) private func read(_ record: DeliveryRecord) -> Reading {
        let read = reader.read(record)
        if record.event != nil, record.trace == nil { beginTrace(record) }
        record.trace?.validated(loop.now)
        switch read {
        case .success(let notification): return .request(notification)
        case .failure(let refusal): return .refused(.conclude(Conclusion(invalid: refusal)))
        }
    }

    /// A message that was delivered before is not sent again without need.
    @inline(__always) private func deliver(_ notification: PushNotification, _ record: DeliveryRecord) async {
        let key = copies.key(id: notification.push.id, of: record.delivery.content)
        switch admit(key, record) {
        case .first: await deliverFirst(notification, key, record)
        case let other: await deliverCopy(notification, key, other, record)
        }
    }

    @inline(never) private func admit(_ key: CopyKey, _ record: DeliveryRecord) -> CopyMemory.Admission {
        copies.begin(key, arrival(record))
    }

    private func arrival(_ record: DeliveryRecord) -> CopyArrival {
        let fingerprint = copies.fingerprint(of: record.delivery.properties)
        return CopyArrival(record, on: channels[record.source], fingerprint: fingerprint)
    }

    /// Apart, so that a message's first arrival holds no memory for it.
    @inline(never) private func deliverCopy(
        _ notification: PushNotification, _ key: CopyKey, _ first: CopyMemory.Admission, _ record: DeliveryRecord
    ) async {
        let arrival = arrival(record)
        var admission = first
        while true {
            switch admission {
            case .first:
                return await deliverFirst(notification, key, record)
            case .busy:
                let ending = await copies.ending(of: key, arrival)
                // Its channel may have been lost while it waited: then it comes again.
                guard consumers[record.source].holds(record.delivery.tag) else { return acknowledgeCopy(record) }
                switch ending {
                case .shared(let verdict): return settleCopy(verdict, record)
                case .same: return acknowledgeCopy(record)
                case .none: admission = copies.begin(key, arrival)
                }
            case .accepted:
                // Of APNs' answer to the first no more is remembered.
                return settleCopy(.accepted, record)
            case .done:
                return acknowledgeCopy(record)
            }
        }
    }

    @inline(__always) private func deliverFirst(
        _ notification: PushNotification, _ key: CopyKey, _ record: DeliveryRecord
    ) async {
        let verdict = named(await send(notification, record))
        willSettle(key, verdict)
        settle(verdict, record, of: key)
    }

    @inline(never) private func willSettle(_ key: CopyKey, _ verdict: Verdict) {
        if case .wait(let wait) = verdict { copies.sendToWait(key, waitID: wait.attempts.waitID) }
    }

    /// Shares the verdict on the first of its kind, and says so.
    @inline(never) private func settleCopy(_ verdict: Verdict, _ record: DeliveryRecord) {
        counters.duplicates.add()
        record.isDuplicate = true
        settle(named(verdict.ofACopy(record.attempts)), record)
    }

    /// Each wait has a name, by which what is published twice for want of a confirm is known.
    @inline(never) private func named(_ verdict: Verdict) -> Verdict {
        guard case .wait(var wait) = verdict else { return verdict }
        wait.attempts.waitID = drawWaitID()
        return .wait(wait)
    }

    func drawWaitID() -> UInt32 { max(1, UInt32(truncatingIfNeeded: loop.nextRandom())) }

    private func acknowledgeCopy(_ record: DeliveryRecord) {
        counters.duplicates.add()
        counters.acknowledged.add()
        consumers[record.source].acknowledge(record.delivery.tag)
        end(record)
    }
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
