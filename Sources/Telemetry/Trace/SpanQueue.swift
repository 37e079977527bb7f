import Threads

/// Spans on their way from the lanes to the thread that exports them. Whoever adds never waits for that.
///
/// `@unchecked Sendable`: the lock guards all that changes.
public final class SpanQueue: @unchecked Sendable {
    private let lock = ConditionLock()
    private var waiting = SpanBuffer()
    private var dropped = 0
    private var isClosed = false
    private var isFinished = false

    public init() {}

    /// What does not fit is dropped.
    public func add(_ new: SpanBuffer) {
        lock.withLock {
            dropped += new.dropped
            waiting.add(new.spans)
            lock.wakeAll()
        }
    }

    /// Counts spans that were taken and came to nothing.
    public func countDropped(_ count: Int) {
        lock.withLock { dropped += count }
    }

    /// Spans that nobody will see, wherever they were dropped.
    public var droppedCount: Int { lock.withLock { dropped + waiting.dropped } }

    /// Waits for spans, blocking the thread; nil when there will be none any more.
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

    /// Lets `take` end after what waits, and waits for that, blocking the thread.
    ///
    /// - Returns: false when it took longer.
    @discardableResult
    public func close(withinMilliseconds milliseconds: Int) -> Bool {
        lock.withLock {
            isClosed = true
            lock.wakeAll()
            return lock.wait(atMostMilliseconds: milliseconds) { isFinished }
        }
    }
}
