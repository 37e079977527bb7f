/// Spans on their way from the lanes to the thread that exports them. Whoever adds never waits for that.
///
/// `@unchecked Sendable`: the lock guards all that changes.
public final class SpanQueue: @unchecked Sendable {
    private let lock = ThreadCondition()
    private var waiting = SpanBuffer()
    private var isClosed = false
    private var isFinished = false

    public init() {}

    /// What does not fit is dropped.
    public func add(_ spans: [Span]) {
        lock.locked {
            waiting.add(spans)
            lock.wakeAll()
        }
    }

    /// Waits for spans, blocking the thread; nil when there will be none any more.
    public func take() -> [Span]? {
        lock.locked {
            lock.wait { !waiting.spans.isEmpty || isClosed }
            guard waiting.spans.isEmpty else { return waiting.take() }
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
        lock.locked {
            isClosed = true
            lock.wakeAll()
            return lock.wait(atMostMilliseconds: milliseconds) { isFinished }
        }
    }
}
