import EventLoop
import Telemetry

extension DeliveryPipeline {
    /// Logs the outcome of a request at level debug.
    func log(_ finalOutcome: FinalOutcome, of record: DeliveryRecord) {
        log.debug(
            .messageConcluded,
            [
                .messageID: record.id.map { .describing($0) },
                .app: record.redactedBundleID(messages.apps).map { .string($0) },
                .outcome: .string(finalOutcome.outcome.rawValue),
                .apnsStatus: finalOutcome.answer.map { .integer($0.status) },
                .apnsReason: finalOutcome.answer?.reason.map { .string($0) },
                .deadLetter: finalOutcome.deadLetter.map { .string("\($0.deadClass).\($0.code)") },
                .attempts: .integer(record.attemptsMade),
                .durationMilliseconds: .milliseconds(record.receivedAt.duration(to: loop.now.monotonic)),
            ])
    }
}
