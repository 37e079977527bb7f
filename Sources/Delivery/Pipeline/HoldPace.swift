import EventLoop

/// The rate limit for moves of held requests to wait queues. It limits the load on the broker while many requests are
/// held.
///
/// Pure. Its methods have the time as a parameter. The rate follows GCRA, the generic cell rate algorithm.
struct HoldPace: Sendable {
    /// The maximum number of held requests that a worker moves per second, divided among its lanes.
    static let perSecondMax = 10_000
    /// The duration of a burst. The requests that the rate allows in this time may move together. After a full burst, a
    /// lane waits about this long before it moves more requests.
    static let burstMilliseconds: Int64 = 10

    private let intervalNanoseconds: Int64
    /// The time at which the next request is due. The request may move earlier, by at most one burst.
    private var due = MonotonicTime(nanoseconds: Int64.min / 2)

    init(laneCount: Int) {
        intervalNanoseconds = 1_000_000_000 * Int64(max(1, laneCount)) / Int64(Self.perSecondMax)
    }

    /// Returns whether a request may move now, and if so counts it against the rate.
    mutating func admit(_ now: MonotonicTime) -> Bool {
        guard due <= now + .milliseconds(Self.burstMilliseconds) else { return false }
        due = max(due, now) + .nanoseconds(intervalNanoseconds)
        return true
    }

    /// The time at which a full burst may move again.
    var nextBurst: MonotonicTime { due }
}
