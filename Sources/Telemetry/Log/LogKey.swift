/// Every key that a log line can hold beside `time`, `level` and `message`: to be found, and spelled, in one place.
/// Dotted, from the general to the particular. None ever holds a secret or a device token.
public enum LogKey: String, Sendable {
    case error = "error"
    case file = "file"
    case durationMilliseconds = "duration_ms"
    case lane = "lane"
    case lanes = "lanes"
    case logDropped = "log.dropped"
    case processID = "process.id"
    case processVersion = "process.version"
    case processSignal = "process.signal"
    case processExitCode = "process.exit_code"
    case memoryBytes = "process.memory_bytes"

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

    case amqpHost = "amqp.host"
    case amqpQueue = "amqp.queue"
    case amqpExchange = "amqp.exchange"
    case amqpConnection = "amqp.connection"

    case apnsHost = "apns.host"
    case apnsReason = "apns.reason"
    case apnsKeyID = "apns.key_id"
    case apnsTeamID = "apns.team_id"
    case apnsConnection = "apns.connection"
    case apnsStreamsMax = "apns.streams_max"

    case retryAfterMilliseconds = "retry.after_ms"
}
