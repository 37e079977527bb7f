/// Every key that a log line can hold beside `time`, `level` and `message`: to be found, and spelled, in one place.
/// Dotted, from the general to the particular. None ever holds a secret; a device token is a `ShortToken`.
public enum LogKey: String, Sendable {
    // The line itself and the process
    case error = "error"
    case hint = "hint"
    case count = "count"
    case durationMilliseconds = "duration_ms"
    case filePath = "file.path"
    case lane = "lane"
    case lanes = "lanes"
    case logDropped = "log.dropped"
    case processID = "process.id"
    case processVersion = "process.version"
    case processSignal = "process.signal"
    case processExitCode = "process.exit_code"
    case memoryBytes = "process.memory_bytes"
    case address = "address"
    case metrics = "metrics"

    // The messages
    case messageID = "message.id"
    case app = "message.app"
    case outcome = "message.outcome"
    case failureClass = "message.class"
    case failureCode = "message.code"
    case attempt = "message.attempt"
    case deviceToken = "message.device_token"
    case inFlight = "message.in_flight"
    case delivered = "message.delivered"
    case accepted = "message.accepted"
    case rejected = "message.rejected"
    case invalid = "message.invalid"
    case expired = "message.expired"
    case unknown = "message.unknown"
    case retried = "message.retried"
    case deadLetters = "message.dead_letters"
    case unknownOutcomes = "message.unknown_outcomes"
    case requeued = "message.requeued"
    case duplicates = "message.duplicates"
    case publishRepeats = "message.publish_repeats"

    // RabbitMQ
    case amqpHost = "amqp.host"
    case amqpQueue = "amqp.queue"
    case amqpExchange = "amqp.exchange"
    case amqpRoutingKey = "amqp.routing_key"
    case amqpDeliveryTag = "amqp.delivery_tag"
    case amqpReplyCode = "amqp.reply_code"
    case amqpReplyText = "amqp.reply_text"
    case amqpConnection = "amqp.connection"

    // APNs
    case apnsID = "apns.id"
    case apnsHost = "apns.host"
    case apnsStatus = "apns.status"
    case apnsReason = "apns.reason"
    case apnsTopic = "apns.topic"
    case apnsKeyID = "apns.key_id"
    case apnsTeamID = "apns.team_id"
    case apnsConnection = "apns.connection"
    case apnsStreamsMax = "apns.streams_max"

    // TLS and reconnecting
    case tlsVersion = "tls.version"
    case tlsApplicationProtocol = "tls.alpn"
    case retryAfterMilliseconds = "retry.after_ms"
}
