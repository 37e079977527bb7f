import AMQP
import EventLoop
import JSON
import Registrations

/// The dead letter of a registration command. It contains the body of the command, byte for byte, and the headers of a
/// request's dead letter (`schemas/dead-letter.schema.json`).
enum CommandDeadLetter {
    static func make(
        of delivery: IncomingMessage, because violation: CommandViolation, exchange: String, worker: WorkerIdentity,
        _ now: Now
    ) -> OutgoingMessage {
        let record = DeliveryRecord(of: delivery, from: 0, now)
        let root = try? JSONDocument(delivery.body).root
        record.id =
            root.flatMap { RequestIdentity.of(body: $0) }
            ?? RequestIdentity.of(messageID: delivery.properties.messageID)
        record.app = root?["app"]?.string.map { .unknown($0) }
        let reason = DeadLetterReason(
            violation.violationClass.rawValue, violation.code, path: violation.path, violation.sentence)
        return DeadLetterMessage.make(
            for: record, FinalOutcome(outcome: .invalid, deadLetter: reason), because: reason, AppDirectory([]),
            failedAtMilliseconds: now.unixMilliseconds, exchange: exchange, worker: worker)
    }
}
