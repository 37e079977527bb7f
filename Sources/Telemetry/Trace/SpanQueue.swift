import Threads

/// Spans that wait for the exporter's thread. `add` never waits for an export.
///
/// `@unchecked Sendable`: the lock guards all mutable state.
public final class SpanQueue: @unchecked Sendable {
    private let lock = ConditionLock()
    private var waiting = SpanBuffer()
    private var dropped = 0
    private var isClosed = false
    private var isFinished = false

    public init() {}

    /// Queues spans. Spans beyond `SpanBuffer.spansMax` are dropped and counted.
    public func add(_ new: SpanBuffer) {
        lock.withLock {
            dropped += new.dropped
            waiting.add(new.spans)
            lock.wakeAll()
        }
    }

    /// Counts spans that the collector did not accept.
    public func countDropped(_ count: Int) {
        lock.withLock { dropped += count }
    }

    /// Spans dropped since the start, in a lane's buffer, in this queue or by the exporter.
    public var droppedCount: Int { lock.withLock { dropped + waiting.dropped } }

    /// Waits for spans and removes them from the queue. Blocks the calling thread. Returns nil once the queue is closed
    /// and empty.
    public func take() -> [Span]? {
        lock.withLock {
            lock.wait { !waiting.spans.isEmpty || isClosed }
            guard waiting.spans.isEmpty else {
                dropped += waiting.dropped
                return waiting.take().spans
            }
            isFinished = true
            lock.wakeAll()
            return nil
        }
    }

    /// Closes the queue and waits until the exporter has processed all spans. Blocks the calling thread.
    ///
    /// - Returns: false on timeout.
    @discardableResult
    public func close(withinMilliseconds milliseconds: Int) -> Bool {
        lock.withLock {
            isClosed = true
            lock.wakeAll()
            return lock.wait(atMostMilliseconds: milliseconds) { isFinished }
        }
    }
}
