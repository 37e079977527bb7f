import AMQP
import EventLoop

/// The attributes of a delivery that distinguish a redelivery from a duplicate.
struct DuplicateCandidate: Hashable {
    var channel: DuplicateMemory.Channel
    /// The wait id of the request's last round (`Attempts.rounds`); 0 before the first round. If two publishes have the
    /// same nonzero wait id, the second publish repeats the first publish.
    var waitID: UInt32 = 0
    /// The wait id before the move to the quarantine; nil unless the last round was that move.
    var waitIDBefore: UInt32?
    /// The time at which a worker moved the request to the quarantine, computed from that worker's wall clock. nil
    /// unless the last round was that move.
    var movedAt: MonotonicTime?
    /// The broker's redelivered flag. Outside the quarantine, only a redelivery can be a delivery that was
    /// unacknowledged on a lost channel.
    var isRedelivered = false
    /// The number of failed deliveries that the broker counted; at most 255. For the first delivery after a move to the
    /// quarantine, it is the number before the move.
    var deliveryCount: UInt8 = 0
    /// The fingerprint of the properties, which distinguishes two publishes of the same body.
    var fingerprint: UInt32 = 0

    /// Returns whether the candidate can be the redelivery of the first delivery (`held`) after its channel was lost.
    /// If so, no other worker received the request in between. The broker restarts its count in the quarantine. Only
    /// the initial delivery there can therefore be a redelivery of a delivery from before the move.
    func isRedelivery(of held: DuplicateTable.Held) -> Bool {
        let isSame =
            isRedelivered ? waitID == held.waitID && fingerprint == held.fingerprint : waitIDBefore == held.waitID
        return isSame && Int(deliveryCount) <= Int(held.deliveryCount) + 1
    }

    /// Returns whether the candidate can be a redelivery of a delivery that was unacknowledged when its channel was
    /// lost, at `loss`. If the request moved to the quarantine before the loss, the candidate is another delivery.
    func mayFollow(_ loss: MonotonicTime) -> Bool {
        guard !isRedelivered, let movedAt else { return true }
        // The header contains whole milliseconds, so the move may be up to one millisecond later than `movedAt`.
        return movedAt + .milliseconds(1) > loss
    }

    /// Returns whether the candidate comes from a publish that the first delivery (`held`) has not completed. The
    /// publish leads to a wait queue or to the request's queue.
    func returnsFromWait(of held: DuplicateTable.Held) -> Bool {
        held.next != 0 && held.next == UInt16(truncatingIfNeeded: waitID)
    }

    /// Returns whether the candidate is a repeated publish of the first delivery (`held`). A redelivery does not count,
    /// since another process may have processed it.
    func isRepublish(of held: DuplicateTable.Held) -> Bool { !isRedelivered && waitID != 0 && waitID == held.waitID }
}

extension DuplicateCandidate {
    init(_ record: DeliveryRecord, on channel: DuplicateMemory.Channel, fingerprint: UInt32) {
        let (delivery, attempts) = (record.delivery, record.attempts)
        let deliveriesBefore = delivery.isRedelivered ? nil : attempts.beforeQuarantine?.deliveries
        let movedAt = attempts.beforeQuarantine.map { before in
            record.receivedAt - .milliseconds(record.receivedAtMilliseconds - before.movedAtMilliseconds)
        }
        self.init(
            channel: channel, waitID: attempts.waitID, waitIDBefore: attempts.beforeQuarantine?.waitID,
            movedAt: movedAt, isRedelivered: delivery.isRedelivered,
            deliveryCount: UInt8(clamping: deliveriesBefore ?? delivery.deliveryCount), fingerprint: fingerprint)
    }
}
