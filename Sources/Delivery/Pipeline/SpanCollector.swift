import EventLoop
import Telemetry

/// A collector of the spans of sampled deliveries. It passes the spans to `onSpans` in batches, at most once a second
/// and at the end of a drain.
///
/// Loop-bound.
final class SpanCollector {
    private static let delayMilliseconds = 1000

    private let loop: EventLoop
    private let apps: AppDirectory
    /// The receiver of the spans; nil if no spans are exported.
    private let onSpans: (@Sendable (SpanBuffer) -> Void)?
    private var buffer = SpanBuffer()

    init(_ context: LaneContext) {
        (loop, apps, onSpans) = (context.loop, context.configuration.apps, context.onSpans)
    }

    /// Begins the trace of a delivery if spans are exported and its producer's trace is sampled.
    func begin(_ record: DeliveryRecord) {
        guard onSpans != nil else { return }
        record.trace = DeliveryTrace(record, loop.now, spanID: loop.nextRandom())
    }

    func end(_ record: DeliveryRecord) {
        guard let trace = record.trace else { return }
        if buffer.spans.isEmpty {
            loop.schedule(after: .milliseconds(Self.delayMilliseconds)) { [self] in flush() }
        }
        buffer.add(trace.spans(of: record, app: record.redactedBundleID(apps), loop.now))
    }

    func flush() {
        let spans = buffer.take()
        if !spans.spans.isEmpty { onSpans?(spans) }
    }
}
