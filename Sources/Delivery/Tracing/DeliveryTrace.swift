import AMQP
import APNS
import Crypto
import EventLoop
import Telemetry

/// The times of a sampled delivery, from which its spans are created.
final class DeliveryTrace {
    /// The trace context of the producer.
    private let parent: TraceContext
    /// The span of the whole delivery.
    let context: TraceContext
    private let beganAt: Int64
    private var validatedAt: Int64?
    private var endedPushAt: Int64?
    let push = PushTiming()
    private var outcome: Outcome?
    private var failure: String?

    /// Begins the trace of a delivery; nil unless the producer's trace is sampled.
    init?(_ record: DeliveryRecord, _ now: Now, spanID: UInt64) {
        guard let text = record.traceContext.parent, let parent = TraceContext(traceParent: text), parent.isSampled
        else { return nil }
        self.parent = parent
        var context = parent
        context.spanID = max(1, spanID)
        self.context = context
        beganAt = now.unixNanoseconds
    }

    func validated(_ now: Now) { validatedAt = now.unixNanoseconds }

    /// Records the end of the push, regardless of its outcome.
    func pushEnded(_ now: Now) { endedPushAt = now.unixNanoseconds }

    func ended(_ finalOutcome: FinalOutcome) {
        outcome = finalOutcome.outcome
        failure = finalOutcome.deadLetter.map { "\($0.deadClass).\($0.code)" }
    }

    /// Returns the spans of the delivery and of the steps that it reached. Attribute names that begin with `messaging.`
    /// follow OpenTelemetry's conventions.
    func spans(of record: DeliveryRecord, app: String?, _ now: Now) -> [Span] {
        let end = now.unixNanoseconds
        var whole = Span(
            "process \(record.delivery.queue)", .consumer, in: context, below: parent.spanID, from: beganAt, to: end)
        whole.set("messaging.system", "rabbitmq")
        whole.set("messaging.operation.type", "process")
        whole.set("messaging.destination.name", record.delivery.queue)
        whole.set("messaging.message.id", record.id?.description)
        whole.set("martlet.app", app)
        whole.set("martlet.outcome", outcome?.rawValue ?? "none")
        whole.set("martlet.attempts", record.attemptsMade)
        whole.failure = failure
        var spans = [whole]
        func step(_ name: String, _ kind: Span.Kind, from start: Int64?, to end: Int64?) {
            guard let start, let end else { return }
            var own = context
            own.spanID = context.spanID &+ UInt64(spans.count)
            spans.append(Span(name, kind, in: own, below: context.spanID, from: start, to: end))
        }
        step("validate", .internal, from: beganAt, to: validatedAt)
        step("wait for a stream", .internal, from: validatedAt, to: push.sentAt ?? endedPushAt)
        step("APNs", .client, from: push.sentAt, to: push.answeredAt ?? endedPushAt)
        step("settle", .internal, from: endedPushAt ?? validatedAt ?? beganAt, to: end)
        return spans
    }
}
