import AMQP
import Crypto

/// The request's body byte for byte, with headers that say why somebody may have to act (`schemas/dead-letter.schema.json`).
enum DeadLetter {
    static func make(
        for account: Account, _ conclusion: Conclusion, because reason: DeadLetterReason, _ apps: AppDirectory,
        failedAtMilliseconds: Int64, exchange: String, origin: Origin
    ) -> OutgoingMessage {
        var message = OutgoingMessage(
            exchange: exchange, routingKey: RoutingKey.dead(reason, app: account.bundleID(apps)),
            body: account.delivery.body, messageID: account.messageID,
            contentType: account.delivery.properties.contentType?.cut(to: MessageHeader.copyBytesMax))
        message.contentEncoding = account.delivery.properties.contentEncoding?.cut(to: MessageHeader.copyBytesMax)
        message.headers.append(MessageHeader.outcome, .string(conclusion.outcome.rawValue))
        message.headers.append(MessageHeader.reasonClass, .string(reason.deadClass))
        message.headers.append(MessageHeader.reasonCode, .string(reason.code.cut(to: MessageHeader.copyBytesMax)))
        message.headers.append(MessageHeader.reason, .string(reason.sentence.cut(to: MessageHeader.textBytesMax)))
        if let path = reason.path {
            message.headers.append(MessageHeader.errorPath, .string(path.cut(to: MessageHeader.textBytesMax)))
        }
        if let answer = conclusion.answer {
            message.headers.append(MessageHeader.apnsStatus, .integer(Int64(answer.status)))
            if let timestamp = answer.timestampMilliseconds {
                message.headers.append(MessageHeader.apnsTimestamp, .integer(timestamp))
            }
        }
        if let id = account.id { message.headers.append(MessageHeader.apnsID, .string(id.description)) }
        message.headers.append(MessageHeader.attempt, .integer(Int64(account.attemptsMade)))
        message.headers.append(MessageHeader.failedAt, .integer(failedAtMilliseconds))
        account.copyOrigin(origin, to: &message.headers)
        account.copyTraceContext(to: &message.headers)
        return message
    }
}

/// Where this worker takes its messages from, and who it is.
struct Origin: Sendable {
    var queue: String
    /// Host, process and version.
    var worker: String
}
