import AMQP

/// The request again, byte for byte, for a queue that sends it back after its delay.
enum RetryMessage {
    static func make(
        for record: DeliveryRecord, _ retry: Retry, failedAtMilliseconds: Int64, exchange: String, origin: Origin
    ) -> OutgoingMessage {
        let properties = record.delivery.properties
        var message = OutgoingMessage(
            exchange: exchange, routingKey: origin.queue, body: record.delivery.body,
            messageID: properties.messageID?.cut(to: MessageHeaderName.copyBytesMax) ?? record.messageID,
            contentType: properties.contentType?.cut(to: MessageHeaderName.copyBytesMax))
        message.contentEncoding = properties.contentEncoding?.cut(to: MessageHeaderName.copyBytesMax)
        message.timestampSeconds = properties.timestampSeconds
        message.headers.append(MessageHeaderName.attempt, .integer(Int64(retry.attempts.before)))
        message.headers.append(MessageHeaderName.rounds, .integer(Int64(retry.attempts.rounds)))
        message.headers.append(MessageHeaderName.possibleDuplicate, .boolean(retry.attempts.possibleDuplicate))
        message.headers.append(
            MessageHeaderName.reasonCode, .string(retry.reason.cut(to: MessageHeaderName.copyBytesMax)))
        let first = properties.header(MessageHeaderName.firstFailedAt)?.integerValue ?? failedAtMilliseconds
        message.headers.append(MessageHeaderName.firstFailedAt, .integer(first))
        message.headers.append(MessageHeaderName.failedAt, .integer(failedAtMilliseconds))
        record.copyOrigin(origin, to: &message.headers)
        record.copyTraceContext(to: &message.headers)
        return message
    }
}
