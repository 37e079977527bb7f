import EventLoop

/// The rule that decides when a worker warns of unrouted results. The worker warns when the number of these results
/// grows, but at most once a minute.
struct UnroutedNotice {
    static let intervalSeconds = 60

    /// The number of results at the last warning, or a lower number that was read later while the queue had no
    /// consumers.
    private var known = 0
    private var warnedAt: MonotonicTime?

    /// Returns whether a warning is due. If so, the caller must warn.
    ///
    /// - Parameters:
    ///   - count: the number of ready results in the queue for unrouted results.
    ///   - consumers: the number of the queue's consumers. A consumer such as `martlet unrouted list` may requeue
    ///     unacknowledged results.
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
