import EventLoop

/// The rule that decides when a worker warns of results without a queue: if their number grows, at most once a
/// minute.
struct UnroutedNotice {
    static let intervalSeconds = 60

    /// The last reported number of results, or the current number if the number has fallen since then.
    private var known = 0
    private var warnedAt: MonotonicTime?

    /// - Parameters:
    ///   - count: ready results in the queue for unrouted results.
    ///   - consumers: the queue's consumers. A consumer such as `martlet unrouted list` may hold results and requeue
    ///     them.
    mutating func isDue(_ count: Int, consumers: Int, now: MonotonicTime) -> Bool {
        guard count > known else {
            if consumers == 0 { known = count }
            return false
        }
        if let warnedAt, warnedAt.duration(to: now) < .seconds(Self.intervalSeconds) { return false }
        (known, warnedAt) = (count, now)
        return true
    }
}
