import AMQP
import EventLoop

/// The attributes of a delivery that distinguish a redelivery from a duplicate.
struct DuplicateCandidate: Hashable {
    var channel: DuplicateMemory.Channel
    /// The wait id of the round that it returns from, or 0. Two deliveries with the same id were published twice
    /// because a confirm was missing.
    var waitID: UInt32 = 0
    /// The wait id before the move to the quarantine; nil unless the last round was that move.
    var waitIDBefore: UInt32?
    /// The time at which the request was moved to the quarantine, by the clock of the worker that moved it.
    var movedAt: MonotonicTime?
    /// The broker's redelivered flag. Outside the quarantine, only a redelivery can be a delivery that a lost channel
    /// held.
    var isRedelivered = false
    /// The failed deliveries that the broker counted, before the move to the quarantine if that was the last round. At
    /// most 255.
    var deliveryCount: UInt8 = 0
    /// The fingerprint of the properties, which distinguishes two publishes of the same body.
    var fingerprint: UInt32 = 0

    /// Whether the delivery can be the held one again after its channel was lost, and no other worker had it since. The
    /// count of deliveries restarts in the quarantine, so only the first delivery there can be the held one.
    func isRedelivery(of held: DuplicateTable.Held) -> Bool {
        let isSame =
            isRedelivered ? waitID == held.waitID && fingerprint == held.fingerprint : waitIDBefore == held.waitID
        return isSame && Int(deliveryCount) <= Int(held.deliveryCount) + 1
    }

    /// Whether the delivery can be one that a channel held when it was lost. A request that moved to the quarantine
    /// before the loss is another delivery.
    func mayFollow(_ loss: MonotonicTime) -> Bool {
        guard !isRedelivered, let movedAt else { return true }
        // The header has whole milliseconds.
        return movedAt + .milliseconds(1) > loss
    }

    /// Whether the delivery returns from the wait to which the held one is being published.
    func returnsFromWait(of held: DuplicateTable.Held) -> Bool {
        held.next != 0 && held.next == UInt16(truncatingIfNeeded: waitID)
    }

    /// Whether the delivery is a repeated publish of the held one. A redelivery is not, since another process may have
    /// had it.
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
