import EventLoop

/// Limits how fast held requests move to wait queues, so that an unreachable endpoint does not load the broker.
///
/// Pure: takes the time. The rate is GCRA, the generic cell rate algorithm.
struct HoldPace: Sendable {
    /// Held requests that a worker moves per second at most; its lanes divide them.
    static let perSecondMax = 10_000
    /// Requests of this time may move at once, and a lane resumes moving after this time at most.
    static let burstMilliseconds: Int64 = 10

    private let intervalNanoseconds: Int64
    /// When the next request is due. It may move up to a burst earlier.
    private var due = MonotonicTime(nanoseconds: Int64.min / 2)

    init(laneCount: Int) {
        intervalNanoseconds = 1_000_000_000 * Int64(max(1, laneCount)) / Int64(Self.perSecondMax)
    }

    /// Returns whether a request may move now, which uses its place in the rate.
    mutating func admit(_ now: MonotonicTime) -> Bool {
        guard due <= now + .milliseconds(Self.burstMilliseconds) else { return false }
        due = max(due, now) + .nanoseconds(intervalNanoseconds)
        return true
    }

    /// When a whole burst may move again.
    var nextBurst: MonotonicTime { due }
}
