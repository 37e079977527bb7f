import Configuration
import Delivery
import EventLoop
import Telemetry

/// The objects that all lanes of a process share.
struct LaneEnvironment {
    /// The control loop.
    let loop: EventLoop
    let log: Log
    let metrics = MetricsRegistry()
    let duplicates = DuplicateMemory()
    /// nil: no spans are exported.
    let spans: SpanQueue?
    /// Completes the commands in remedies.
    let commands: CommandAdvice

    var spanReceiver: (@Sendable (SpanBuffer) -> Void)? {
        guard let spans else { return nil }
        return { spans.add($0) }
    }
}
