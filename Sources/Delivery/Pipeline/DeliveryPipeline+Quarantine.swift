import AMQP
import Crypto
import EventLoop
import Telemetry

/// A request whose deliveries fail again and again may be the cause of the failures. It moves to a queue that delivers one
/// message at a time, so that no other request suffers with it.
extension DeliveryPipeline {
    /// Failed deliveries after which a request moves to the quarantine.
    static let deliveriesMax = 3
    /// Failed deliveries from the quarantine, where the broker counts from zero again. The next delivery ends the request.
    private static let quarantineDeliveriesMax = 2

    func exceedsDeliveryLimit(_ record: DeliveryRecord) -> Bool {
        // A body that was not kept cannot move.
        guard !record.delivery.isOversized else { return false }
        return record.delivery.deliveryCount
            >= (isInQuarantine(record) ? Self.quarantineDeliveriesMax : Self.deliveriesMax)
    }

    private func isInQuarantine(_ record: DeliveryRecord) -> Bool { session.role(of: record) == .quarantine }

    /// Moves or ends a request without reading its body, which may be what does the harm.
    func quarantine(_ record: DeliveryRecord) {
        identifyUnread(record)
        guard isInQuarantine(record) else { return settle(.quarantine(waitID: nextWaitID()), record) }
        let reason = DeadLetterReason(
            "quarantine", "redelivered",
            "Each time it was delivered, alone, its worker ended or lost the broker: it may have been sent.")
        settle(.conclude(FinalOutcome(outcome: .unknown, deadLetter: reason)), record)
    }

    /// Takes the id from the properties.
    func identifyUnread(_ record: DeliveryRecord) {
        let properties = record.delivery.properties
        record.id = RequestIdentity.of(messageID: properties.messageID) ?? CloudEvent(properties)?.requestID
    }

    /// The request has moved to the quarantine.
    func reportQuarantine(_ record: DeliveryRecord) {
        metrics.counters.quarantined.add()
        log.warning(
            .quarantineEntered,
            [.amqpQueue: .string(record.delivery.queue), .deliveries: .integer(record.delivery.deliveryCount)])
    }

    /// The final outcome of a request was published, which may have ended in the quarantine.
    func reportQuarantineEnd(_ record: DeliveryRecord) {
        guard exceedsDeliveryLimit(record), isInQuarantine(record) else { return }
        metrics.counters.quarantined.add()
        log.error(
            .quarantineEnded,
            [.amqpQueue: .string(record.delivery.queue), .deliveries: .integer(record.delivery.deliveryCount)])
    }
}
