import EventLoop
import Telemetry

extension Lane {
    /// How long spans wait to be handed over together.
    private static let spanDelayMilliseconds = 1000

    /// Where spans are wanted, and its producer's trace is kept.
    func beginTrace(_ record: DeliveryRecord) {
        guard onSpans != nil else { return }
        record.trace = DeliveryTrace(record, loop.now, spanID: loop.nextRandom())
    }

    func endTrace(_ record: DeliveryRecord) {
        guard let trace = record.trace else { return }
        if spans.spans.isEmpty {
            loop.schedule(after: .milliseconds(Self.spanDelayMilliseconds)) {
                self.assumeIsolated { $0.handOverSpans() }
            }
        }
        spans.add(trace.spans(of: record, app: record.bundleID(configuration.apps), loop.now))
    }

    func handOverSpans() {
        let spans = spans.take()
        if !spans.spans.isEmpty { onSpans?(spans) }
    }
}
