import AMQP

/// The request again, byte for byte, for a queue that sends it back after its delay.
enum RetryMessage {
    static func make(
        for account: Account, _ retry: Retry, failedAtMilliseconds: Int64, exchange: String, origin: Origin
    ) -> OutgoingMessage {
        let properties = account.delivery.properties
        var message = OutgoingMessage(
            exchange: exchange, routingKey: retry.bucket.routingKey, body: account.delivery.body,
            messageID: properties.messageID?.cut(to: MessageHeader.copyBytesMax) ?? account.messageID,
            contentType: properties.contentType?.cut(to: MessageHeader.copyBytesMax))
        message.contentEncoding = properties.contentEncoding?.cut(to: MessageHeader.copyBytesMax)
        message.timestampSeconds = properties.timestampSeconds
        message.headers.append(MessageHeader.attempt, .integer(Int64(retry.attempts.before)))
        message.headers.append(MessageHeader.possibleDuplicate, .boolean(retry.attempts.possibleDuplicate))
        message.headers.append(MessageHeader.reasonCode, .string(retry.reason.cut(to: MessageHeader.copyBytesMax)))
        let first = properties.header(MessageHeader.firstFailedAt)?.integerValue ?? failedAtMilliseconds
        message.headers.append(MessageHeader.firstFailedAt, .integer(first))
        message.headers.append(MessageHeader.failedAt, .integer(failedAtMilliseconds))
        account.copyOrigin(origin, to: &message.headers)
        account.copyTraceContext(to: &message.headers)
        return message
    }
}
