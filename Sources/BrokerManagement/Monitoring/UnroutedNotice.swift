import EventLoop

/// Decides when a worker warns of results that no queue is bound for: as soon as their number grows, at most once a
/// minute. Pure.
struct UnroutedNotice {
    static let intervalSeconds = 60

    /// As last seen, or as warned of while a warning has to wait.
    private var known = 0
    private var warnedAt: MonotonicTime?

    /// - Parameters:
    ///   - count: ready results in the queue for unrouted results.
    ///   - consumers: a consumer such as `martlet unrouted list` may hold results and return them.
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
