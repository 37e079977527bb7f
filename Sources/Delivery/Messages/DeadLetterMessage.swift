import AMQP
import Crypto
import Text

/// A dead letter, which contains the body of the request, byte for byte, and headers that report the reason
/// (`schemas/dead-letter.schema.json`).
enum DeadLetterMessage {
    static func make(
        for record: DeliveryRecord, _ finalOutcome: FinalOutcome, because reason: DeadLetterReason,
        _ apps: AppDirectory,
        failedAtMilliseconds: Int64, exchange: String, worker: WorkerIdentity
    ) -> OutgoingMessage {
        var message = record.republished(
            exchange: exchange, routingKey: RoutingKey.dead(reason, app: record.bundleID(apps)))
        // Consumers use this id to drop duplicates, and to match a result with its dead letter.
        message.messageID = record.messageID
        message.headers.append(MessageHeaderName.outcome, .string(finalOutcome.outcome.rawValue))
        message.headers.append(MessageHeaderName.reasonClass, .string(reason.deadClass))
        message.headers.append(
            MessageHeaderName.reasonCode, .string(reason.code.cut(to: MessageHeaderName.copyBytesMax)))
        message.headers.append(
            MessageHeaderName.reason, .string(reason.sentence.cut(to: MessageHeaderName.textBytesMax)))
        if let path = reason.path {
            message.headers.append(MessageHeaderName.errorPath, .string(path.cut(to: MessageHeaderName.textBytesMax)))
        }
        if let answer = finalOutcome.answer {
            message.headers.append(MessageHeaderName.apnsStatus, .integer(Int64(answer.status)))
            if let timestamp = answer.timestampMilliseconds {
                message.headers.append(MessageHeaderName.apnsTimestamp, .integer(timestamp))
            }
        }
        if let id = record.id { message.headers.append(MessageHeaderName.apnsID, .string(id.description)) }
        message.headers.append(MessageHeaderName.attempt, .integer(Int64(record.attemptsMade)))
        message.headers.append(MessageHeaderName.possibleDuplicate, .boolean(record.attempts.possibleDuplicate))
        message.headers.appendTimes(of: record.attempts)
        if let first = record.delivery.properties.header(MessageHeaderName.firstFailedAt)?.integerValue {
            message.headers.append(MessageHeaderName.firstFailedAt, .integer(first))
        }
        message.headers.append(MessageHeaderName.failedAt, .integer(failedAtMilliseconds))
        message.headers.append(record.history(trusting: worker))
        record.appendCursor(to: &message.headers)
        record.copyOrigin(worker, to: &message.headers)
        record.copyTraceContext(to: &message.headers)
        record.copyProducersHeaders(to: &message.headers)
        return message
    }
}
