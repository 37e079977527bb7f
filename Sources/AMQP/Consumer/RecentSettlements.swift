import EventLoop

/// When settlements were sent that the queue may not have applied yet.
///
/// RabbitMQ's client of a quorum queue keeps back what follows 32 settlements that are not applied, and forgets it when the
/// channel ends (`SOFT_LIMIT` in `rabbit_fifo_client`); nothing in AMQP says when one is applied.
struct RecentSettlements {
    static let unappliedMax = 32
    /// A queue that takes longer to apply a settlement may lose those behind it.
    static let applySecondsMax: Int64 = 2

    /// Of the last ones, as a ring.
    private var times: [MonotonicTime] = []
    private var oldest = 0

    mutating func sent(at now: MonotonicTime) {
        if times.count < Self.unappliedMax { return times.append(now) }
        times[oldest] = now
        oldest = (oldest + 1) % Self.unappliedMax
    }

    /// From when on nothing is kept back any more; nil: nothing is.
    var safeAt: MonotonicTime? {
        times.count == Self.unappliedMax ? times[oldest] + .seconds(Self.applySecondsMax) : nil
    }
}
