import AMQP
import EventLoop
import Telemetry

/// A retrier that publishes unconfirmed messages again. If only the confirm was lost, the broker has the message twice.
/// Consumers recognize the second message by its message id. Workers recognize a republished request by its wait id.
///
/// While publishes keep failing, the lane stops consuming, since it could not publish the outcomes of its deliveries.
/// Possible causes are a missing queue, a full queue, or an unavailable broker.
///
/// Loop-bound.
final class PublishRetrier {
    private let loop: EventLoop
    private let log: Log
    private let counters: LaneCounters
    private let completeRemedy: @Sendable (String) -> String
    private(set) var flow = PublishFlow.flowing
    private var outage = Outage()
    /// The records whose next publish is scheduled, by the number of their pause.
    private var paused: [Int: DeliveryRecord] = [:]
    private var pausesBegun = 0

    init(_ context: LaneContext, _ metrics: LaneMetrics) {
        (loop, log, counters) = (context.loop, context.log, metrics.counters)
        completeRemedy = context.configuration.completeRemedy
    }

    func park(_ record: DeliveryRecord) { flow.park(record) }

    func takeParked() -> [DeliveryRecord] { flow.takeParked() }

    /// Schedules the next publish. A refused message is published immediately without its optional parts, or skipped if
    /// their removal would not help. If the lane has ended, requeues the delivery.
    func retry(_ settlement: consuming Settlement, after outcome: PublishOutcome, _ record: DeliveryRecord) {
        let pipeline = record.pipeline
        let retry = settlement.retry ?? PublishRetry(pipeline.messages.next(of: settlement, record))
        settlement.retry = retry
        if pipeline.lifecycle == .ended { return abandon(settlement, record) }
        if case .refused(let refusal) = outcome {
            if retry.removeOptionalParts(for: refusal) { return publish(settlement, record) }
            logImpossible(retry.message, refusal)
            finish(&settlement, in: pipeline)
            return pipeline.publishFailed(settlement, record)
        }
        let delay = retry.next(after: outcome)
        counters.publishRepeats.add()
        if retry.isStuck { stick(retry, outcome, pipeline) }
        pause(settlement, for: delay, record)
    }

    private func pause(_ settlement: consuming Settlement, for delay: Duration, _ record: DeliveryRecord) {
        pausesBegun += 1
        let number = pausesBegun
        let timer = loop.schedule(after: delay) { [self] in resume(number) }
        settlement.retry?.pause = (number, timer)
        record.stage = .publishing(settlement)
        paused[number] = record
    }

    private func resume(_ number: Int) {
        guard let record = paused.removeValue(forKey: number), case .publishing(let settlement) = record.takeStage()
        else { return }
        if record.pipeline.lifecycle == .ended { return abandon(settlement, record) }
        publish(settlement, record)
    }

    private func publish(_ settlement: consuming Settlement, _ record: DeliveryRecord) {
        guard let message = settlement.retry?.message else { return }
        settlement.publishedAt = loop.now.monotonic
        record.pipeline.publish(message, settlement, record)
    }

    /// Ends all pauses of a lane that has ended, and requeues the deliveries whose next publish is scheduled.
    func end() {
        for number in paused.keys.sorted() {
            if case .publishing(let settlement)? = paused[number]?.stage, let timer = settlement.retry?.pause?.timer {
                loop.cancel(timer)
            }
            resume(number)
        }
    }

    private func abandon(_ settlement: consuming Settlement, _ record: DeliveryRecord) {
        finish(&settlement, in: record.pipeline)
        record.pipeline.abandon(record, settlement.key)
    }

    /// Ends the retries of a message that was confirmed or given up. If the message was the last stuck message, resumes
    /// consuming and delivers the parked records.
    func finish(_ settlement: inout Settlement, in pipeline: DeliveryPipeline) {
        guard let retry = settlement.retry.take(), retry.isStuck, let parked = flow.unstick() else { return }
        pipeline.updateDemand()
        for record in parked { pipeline.deliver(record) }
        guard let length = outage.ends(loop.now.monotonic), pipeline.lifecycle != .ended else { return }
        log.info(.publishResumed, [.durationMilliseconds: .milliseconds(length)])
    }

    private func stick(_ retry: PublishRetry, _ outcome: PublishOutcome, _ pipeline: DeliveryPipeline) {
        if retry.repeats == PublishRetry.repeatsMax + 1, flow.stick(failure(retry.message, outcome)) {
            pipeline.updateDemand()
        }
        logStuck(retry.message, outcome)
    }

    private func failure(_ message: OutgoingMessage, _ outcome: PublishOutcome) -> String {
        completeRemedy("\(message.destination): \(outcome.advice)")
    }

    private func logStuck(_ message: OutgoingMessage, _ outcome: PublishOutcome) {
        guard outage.lasts(loop.now.monotonic) != nil else { return }
        log.warning(
            .publishStuck,
            [
                .error: .string(failure(message, outcome)),
                .publishRepeats: .integer(counters.publishRepeats.value),
            ])
    }

    private func logImpossible(_ message: OutgoingMessage, _ refusal: PublishRefusal) {
        log.error(
            .publishImpossible,
            [.amqpExchange: .string(message.exchange), .error: .string(refusal.rawValue)])
    }
}

extension PublishOutcome {
    /// A description of the outcome for operators, with a remedy if one exists.
    var advice: String {
        switch self {
        case .confirmed: "confirmed"
        case .returned(_, let text):
            "no queue is bound for the message (\(text)): run: martlet topology apply"
        case .nacked:
            "a queue is full or refuses the message: consume from the queue, or raise its limit; to list policies, "
                + "run: rabbitmqctl list_policies"
        case .unknown(let error), .notSent(let error): error.advice
        case .refused(let refusal): refusal.rawValue
        }
    }
}
