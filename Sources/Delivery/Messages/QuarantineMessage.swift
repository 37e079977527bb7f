import AMQP
import BrokerTopology

/// The message that moves a request, byte for byte, to the quarantine. The quarantine delivers one message at a time.
enum QuarantineMessage {
    static func make(
        for record: DeliveryRecord, waitID: UInt32, movedAtMilliseconds: Int64, names: TopologyNames,
        worker: WorkerIdentity
    ) -> OutgoingMessage {
        var message = record.republished(exchange: names.quarantineQueue, routingKey: record.delivery.queue)
        message.headers.append(
            record.attempts.quarantined(
                waitID: waitID, deliveries: record.delivery.deliveryCount, atMilliseconds: movedAtMilliseconds))
        message.headers.append(
            MessageHeaderName.reason, .string("Delivered \(record.delivery.deliveryCount) times without being settled.")
        )
        message.headers.append(MessageHeaderName.failedAt, .integer(movedAtMilliseconds))
        var history = record.history(trusting: worker)
        history.add(.quarantine, DeadLetterReason.redeliveredCode, at: movedAtMilliseconds, until: nil)
        message.headers.append(history)
        record.copyDeadline(to: &message.headers)
        record.copyOrigin(worker, to: &message.headers)
        record.copyTraceContext(to: &message.headers)
        record.copyProducersHeaders(to: &message.headers)
        return message
    }
}
