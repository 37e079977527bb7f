package import EventLoop

/// A rate limit that spreads messages evenly over each second.
package struct RateLimiter {
    /// The maximum delay for which later messages compensate.
    private static let burst = Duration.milliseconds(50)

    private let interval: Duration
    private var next: MonotonicTime?

    package init(perSecond rate: Int) { interval = .nanoseconds(1_000_000_000 / Int64(max(1, rate))) }

    /// Returns the wait before the next message. The message then counts as sent.
    package mutating func wait(now: MonotonicTime) -> Duration {
        let due = max(next ?? now, now - Self.burst)
        next = due + interval
        return due > now ? now.duration(to: due) : .zero
    }
}
