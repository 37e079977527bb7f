import EventLoop

/// A limit on the number of events a second. It performs no I/O.
struct RequestPace: Sendable, Hashable {
    private let interval: Duration
    private let burst: Int
    /// The time at which all events so far are paid for.
    private var paidUntil: MonotonicTime?

    /// - Parameter burst: the number of events that may occur at once.
    init(perSecond: Int, burst: Int) {
        interval = .nanoseconds(1_000_000_000 / Int64(perSecond))
        self.burst = burst
    }

    /// Returns whether an event may occur now, and counts it if so.
    mutating func admits(at now: MonotonicTime) -> Bool {
        let start = max(paidUntil ?? now, now)
        guard now.duration(to: start) <= interval * (burst - 1) else { return false }
        paidUntil = start + interval
        return true
    }
}
