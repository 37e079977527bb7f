import AMQP
import APNS
import Crypto
import EventLoop
import Telemetry

/// What is noted on the way of a delivery whose trace is kept, and the spans that are made of it.
final class DeliveryTrace {
    /// The producer's.
    private let parent: TraceContext
    /// Of the delivery as a whole.
    let context: TraceContext
    private let beganAt: Int64
    private var validatedAt: Int64?
    private var endedPushAt: Int64?
    let push = PushTiming()
    private var outcome: Outcome?
    private var failure: String?

    /// nil unless the producer's trace is kept.
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

    /// Whatever became of the push.
    func pushEnded(_ now: Now) { endedPushAt = now.unixNanoseconds }

    func ended(_ finalOutcome: FinalOutcome) {
        outcome = finalOutcome.outcome
        failure = finalOutcome.deadLetter.map { "\($0.deadClass).\($0.code)" }
    }

    /// The delivery and its steps, as far as it came. Names are OpenTelemetry's for messaging.
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
