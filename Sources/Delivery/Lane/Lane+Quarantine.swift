import AMQP
import Crypto
import EventLoop
import Telemetry

/// A message that was delivered again and again without an end may be what ends the workers. It moves to a queue whose
/// messages are delivered one at a time, so that no other suffers with it.
extension Lane {
    /// Deliveries without an end after which a message moves.
    static let deliveriesMax = 3
    /// The same in the quarantine, where its count began anew: the delivery after them is its end.
    private static let quarantineDeliveriesMax = 2

    func isPoison(_ record: DeliveryRecord) -> Bool {
        // A body that was not kept cannot move.
        guard !record.delivery.isOversized else { return false }
        return record.delivery.deliveryCount
            >= (isInQuarantine(record) ? Self.quarantineDeliveriesMax : Self.deliveriesMax)
    }

    private func isInQuarantine(_ record: DeliveryRecord) -> Bool {
        configuration.role(ofConsumer: record.source) == .quarantine
    }

    /// Nothing of the body is looked at: that may be what does the harm.
    func isolate(_ record: DeliveryRecord) {
        nameUnread(record)
        if isInQuarantine(record) { endInQuarantine(record) } else { Task { await moveToQuarantine(record) } }
    }

    /// By its properties.
    func nameUnread(_ record: DeliveryRecord) {
        let properties = record.delivery.properties
        record.id = RequestID.of(messageID: properties.messageID) ?? CloudEvent(properties)?.requestID
    }

    private func moveToQuarantine(_ record: DeliveryRecord) async {
        defer { end(record) }
        let message = QuarantineMessage.make(
            for: record, waitID: drawWaitID(), movedAtMilliseconds: loop.now.unixMilliseconds,
            names: configuration.names, worker: identity)
        guard acknowledge(record, await publish(message)) else { return }
        counters.quarantined.add()
        log.warning(
            .quarantineEntered,
            [.amqpQueue: .string(record.delivery.queue), .deliveries: .integer(record.delivery.deliveryCount)])
    }

    private func endInQuarantine(_ record: DeliveryRecord) {
        let reason = DeadLetterReason(
            "quarantine", "redelivered",
            "Each time it was delivered, alone, its worker ended or lost the broker: it may have been sent.")
        settle(.conclude(FinalOutcome(outcome: .unknown, deadLetter: reason)), record)
    }

    /// To be called when the final outcome of a delivery was published.
    func noteQuarantine(_ record: DeliveryRecord) {
        guard isPoison(record), isInQuarantine(record) else { return }
        counters.quarantined.add()
        log.error(
            .quarantineEnded,
            [.amqpQueue: .string(record.delivery.queue), .deliveries: .integer(record.delivery.deliveryCount)])
    }
}
