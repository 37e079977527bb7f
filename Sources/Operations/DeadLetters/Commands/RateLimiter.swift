import EventLoop

/// Spreads what is sent evenly over each second.
struct RateLimiter {
    /// What was late may be made up for, for so long.
    private static let burst = Duration.milliseconds(50)

    private let interval: Duration
    private var next: MonotonicTime?

    init(perSecond rate: Int) { interval = .nanoseconds(1_000_000_000 / Int64(max(1, rate))) }

    /// How long the next one waits from now on; it counts as sent.
    mutating func wait(now: MonotonicTime) -> Duration {
        let due = max(next ?? now, now - Self.burst)
        next = due + interval
        return due > now ? now.duration(to: due) : .zero
    }
}
