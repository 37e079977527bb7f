import EventLoop
import Telemetry

extension Lane {
    /// One line for each message, for whoever asked for that much.
    func log(_ conclusion: Conclusion, of record: DeliveryRecord) {
        log.debug(
            .messageConcluded,
            [
                .messageID: record.id.map { .describing($0) },
                .app: record.bundleID(configuration.apps).map { .string($0) },
                .outcome: .string(conclusion.outcome.rawValue),
                .apnsStatus: conclusion.answer.map { .integer($0.status) },
                .apnsReason: conclusion.answer?.reason.map { .string($0) },
                .deadLetter: conclusion.deadLetter.map { .string("\($0.deadClass).\($0.code)") },
                .attempts: .integer(record.attemptsMade),
                .durationMilliseconds: .milliseconds(record.receivedAt.duration(to: loop.now.monotonic)),
            ])
    }
}
