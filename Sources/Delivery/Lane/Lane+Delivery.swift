import AMQP
import APNS
import EventLoop
import Telemetry

extension Lane {
    /// The way of one message: read it, send it, and settle it, which publishes what became of it and acknowledges it. Whatever
    /// settles or acknowledges a delivery ends it.
    ///
    /// No task waits for what APNs or the broker says of it: that goes on with what is left to do (decision 32).
    func deliver(_ record: DeliveryRecord) {
        guard !waitsToBegin(record) else { return backlog.hold(record) }
        guard begin(record) else { return }
        guard !isFromExpiredQueue(record) else { return deliverExpired(record) }
        guard !isPoison(record) else { return isolate(record) }
        switch read(record) {
        case .refused(let verdict): settle(verdict, record)
        case .request(let notification): deliver(notification, record)
        }
    }

    /// False where it is given back instead.
    private func begin(_ record: DeliveryRecord) -> Bool {
        guard !state.isLeaving, holds(record) else {
            giveBack(record)
            return false
        }
        inFlight += 1
        counters.inFlight.add(1)
        labels.delivered(from: record.source, isRedelivered: record.delivery.isRedelivered)
        beginTrace(record)
        if let age = record.ageNanoseconds { counters.age.observe(age) }
        return true
    }

    /// Its channel may have been lost since it came: then it comes again, and this only gives back its bytes.
    private func giveBack(_ record: DeliveryRecord) {
        if holds(record) { counters.requeued.add() }
        consumers[record.source].requeue(record.delivery.tag)
    }

    /// Whether it is still to be settled here: else it has been, or its channel was lost and the broker delivers it again.
    func holds(_ record: DeliveryRecord) -> Bool { consumers[record.source].holds(record.delivery.tag) }

    /// To be called last, when its delivery is settled.
    func end(_ record: DeliveryRecord) {
        inFlight -= 1
        counters.inFlight.add(-1)
        endTrace(record)
        counters.whole.observe(record.receivedAt, loop.now.monotonic)
        if inFlight == 0 { idle() }
    }

    enum Reading {
        case request(PushRequest)
        case refused(Verdict)
    }

    func read(_ record: DeliveryRecord) -> Reading {
        let read = reader.read(record)
        if record.event != nil, record.trace == nil { beginTrace(record) }
        record.trace?.validated(loop.now)
        switch read {
        case .success(let notification): return .request(notification)
        case .failure(let refusal): return .refused(.conclude(FinalOutcome(invalid: refusal)))
        }
    }

    func deliver(_ notification: PushRequest, _ record: DeliveryRecord) {
        let key = copies.key(id: notification.push.id, of: record.delivery.content)
        let fingerprint = copies.fingerprint(of: record.delivery.properties)
        let arrival = DuplicateCandidate(record, on: channels[record.source], fingerprint: fingerprint)
        deliver(PendingPush(notification: notification, key: key), arrival, record)
    }

    /// A message that was delivered before is not sent again without need.
    private func deliver(_ sending: PendingPush, _ arrival: DuplicateCandidate, _ record: DeliveryRecord) {
        switch copies.begin(sending.key, arrival) {
        case .first where isFromExpiredQueue(record):
            // A request with the same id and body that has not expired is pushed.
            copies.forget(sending.key)
            endExpired(record)
        case .first: send(sending, record)
        // At once, or the first might end before.
        case .busy: Task.immediate { await waitForFirst(sending, arrival, record) }
        // Of APNs' answer to the first no more is remembered.
        case .accepted: settleCopy(record.isBroadcast ? .acceptedBroadcast : .accepted, record)
        case .done: acknowledgeCopy(record)
        }
    }

    private func waitForFirst(_ sending: PendingPush, _ arrival: DuplicateCandidate, _ record: DeliveryRecord) async {
        let ending = await copies.ending(of: sending.key, arrival, in: ObjectIdentifier(self))
        // Its channel may have been lost while it waited: then it comes again.
        guard holds(record) else { return acknowledgeCopy(record) }
        switch ending {
        case .shared(let verdict): settleCopy(verdict, record)
        case .same: acknowledgeCopy(record)
        case .none where isEnding:
            _ = acknowledge(record, .ended)
            end(record)
        case .none: deliver(sending, arrival, record)
        }
    }

    /// Shares the verdict on the first of its kind, and says so.
    private func settleCopy(_ verdict: Verdict, _ record: DeliveryRecord) {
        // The request that waits keeps its deadline, and gets the result.
        if case .wait = verdict, isFromExpiredQueue(record) { return acknowledgeCopy(record) }
        counters.duplicates.add()
        record.isDuplicate = true
        settle(verdict.ofACopy(record.attempts), record)
    }

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
        case .conclude(var finalOutcome):
            finalOutcome.deadLetter = nil
            return .conclude(finalOutcome)
        case .wait(var wait):
            wait.attempts.possibleDuplicate = wait.attempts.possibleDuplicate || attempts.possibleDuplicate
            return .wait(wait)
        case .requeue:
            return self
        }
    }
}
