import AMQP
import EventLoop

/// A delivery, as far as it tells a redelivery from a copy.
struct DuplicateCandidate: Hashable {
    var channel: DuplicateMemory.Channel
    /// The trip that it comes from, or 0: what comes twice with the same was published twice for want of a confirm.
    var waitID: UInt32 = 0
    /// The trip before, when that one led to the quarantine.
    var waitIDBefore: UInt32?
    /// When it was moved there, by the clock of whoever moved it.
    var movedAt: MonotonicTime?
    /// As the broker says; only then it can be what a lost channel held.
    var isRedelivered = false
    /// Times that it was delivered without an end, before a move to the quarantine if that was its last trip, as the broker
    /// says; 255 and more are one.
    var deliveryCount: UInt8 = 0
    /// Of its properties: two publishes of the same body are told apart where these differ.
    var fingerprint: UInt32 = 0

    /// Whether it can be what a lost channel held: nobody else had it since, who might have sent it as well. In the
    /// quarantine counting begins anew, so that there only the first delivery can be what was held before.
    func isAgain(_ held: DuplicateTable.Held) -> Bool {
        let isIt =
            isRedelivered ? waitID == held.waitID && fingerprint == held.fingerprint : waitIDBefore == held.waitID
        return isIt && Int(deliveryCount) <= Int(held.deliveryCount) + 1
    }

    /// Whether it can be what a channel held that was lost then: what had moved to the quarantine before is another.
    func mayFollow(_ loss: MonotonicTime) -> Bool {
        guard !isRedelivered, let movedAt else { return true }
        // A message says it in whole milliseconds.
        return movedAt + .milliseconds(1) > loss
    }

    /// Whether it comes from the wait which that one is just being sent to.
    func isBack(_ held: DuplicateTable.Held) -> Bool {
        held.next != 0 && held.next == UInt16(truncatingIfNeeded: waitID)
    }

    /// Whether it is a repeated publish of what is known already. When the broker delivers it again, another process may
    /// have had it.
    func isRepeated(_ held: DuplicateTable.Held) -> Bool { !isRedelivered && waitID != 0 && waitID == held.waitID }
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
