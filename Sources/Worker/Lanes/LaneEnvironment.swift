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
    /// The queue of completed spans; nil if spans are not exported.
    let spans: SpanQueue?
    /// The lines of the journal that wait for the control loop; empty without a journal.
    let journal = JournalQueue()
    /// The options that complete the commands in remedies.
    let commands: CommandAdvice

    var spanReceiver: (@Sendable (SpanBuffer) -> Void)? {
        guard let spans else { return nil }
        return { spans.add($0) }
    }

    /// Returns the receiver of the lines of a lane's journal.
    func journalReceiver(ofLane lane: Int) -> @Sendable (JournalBuffer) -> Void {
        { [journal] in journal.add($0, ofLane: lane) }
    }
}
