import EventLoop

/// When settlements were sent that the queue may not have applied yet.
///
/// RabbitMQ's client of a quorum queue keeps back what follows 32 settlements that are not applied, and forgets it when the
/// channel ends (`SOFT_LIMIT` in `rabbit_fifo_client`); nothing in AMQP says when one is applied.
struct UnappliedSettlements {
    static let unappliedMax = 32
    /// A queue that takes longer to apply a settlement may lose those behind it.
    static let applySecondsMax: Int64 = 2
    private static let periodNanoseconds = applySecondsMax * 1_000_000_000

    /// Counted from one moment on for so long, and in as long a time before.
    private var begin = MonotonicTime(nanoseconds: 0)
    private var count = 0
    private var countBefore = 0
    private var last = MonotonicTime(nanoseconds: 0)

    mutating func sent(_ count: Int, at now: MonotonicTime) {
        let age = now.nanoseconds - begin.nanoseconds
        if age >= Self.periodNanoseconds {
            countBefore = age < 2 * Self.periodNanoseconds ? self.count : 0
            (self.count, begin) = (0, now)
        }
        self.count += count
        last = now
    }

    /// From when on nothing is kept back any more; nil: nothing is.
    var safeAt: MonotonicTime? {
        countBefore + count > Self.unappliedMax ? last + .seconds(Self.applySecondsMax) : nil
    }
}
