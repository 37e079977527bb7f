import AMQP
import Crypto
import EventLoop
import Telemetry

/// The quarantine. A request whose deliveries fail repeatedly may be the cause of the failures. The worker moves the
/// request to a queue that delivers one message at a time. In this queue, the request affects no other request.
extension DeliveryPipeline {
    /// The number of failed deliveries after which a request moves to the quarantine.
    static let deliveriesMax = 3
    /// The number of failed deliveries from the quarantine after which the next delivery completes the request. The
    /// broker restarts its count in the quarantine.
    private static let quarantineDeliveriesMax = 2

    func exceedsDeliveryLimit(_ record: DeliveryRecord) -> Bool {
        // The body of an oversized request was dropped, so the request cannot move.
        guard !record.delivery.isOversized else { return false }
        return record.delivery.deliveryCount
            >= (isInQuarantine(record) ? Self.quarantineDeliveriesMax : Self.deliveriesMax)
    }

    private func isInQuarantine(_ record: DeliveryRecord) -> Bool { session.role(of: record) == .quarantine }

    /// Moves the request to the quarantine, or completes it if it is there. Does not read the body, which may cause the
    /// failures.
    func quarantine(_ record: DeliveryRecord) {
        identifyUnread(record)
        guard isInQuarantine(record) else { return settle(.quarantine(waitID: nextWaitID()), record) }
        let reason = DeadLetterReason(
            "quarantine", DeadLetterReason.redeliveredCode,
            "A worker stopped or lost the broker connection each time it processed this request from the quarantine. "
                + "The push may have been sent.")
        settle(.conclude(FinalOutcome(outcome: .unknown, deadLetter: reason)), record)
    }

    /// Sets the id from the properties, without reading the body.
    func identifyUnread(_ record: DeliveryRecord) {
        let properties = record.delivery.properties
        record.id = RequestIdentity.of(messageID: properties.messageID) ?? CloudEvent(properties)?.requestID
    }

    /// Logs and counts a request that moved to the quarantine.
    func reportQuarantine(_ record: DeliveryRecord) {
        metrics.counters.quarantined.add()
        log.warning(
            .quarantineEntered,
            [.amqpQueue: .string(record.delivery.queue), .deliveries: .integer(record.delivery.deliveryCount)])
    }

    /// Logs and counts a request that was completed in the quarantine because its deliveries failed. Does nothing for
    /// other requests, such as a request that was pushed from the quarantine.
    func reportQuarantineEnd(_ record: DeliveryRecord) {
        guard exceedsDeliveryLimit(record), isInQuarantine(record) else { return }
        metrics.counters.quarantined.add()
        log.error(
            .quarantineEnded,
            [.amqpQueue: .string(record.delivery.queue), .deliveries: .integer(record.delivery.deliveryCount)])
    }
}
