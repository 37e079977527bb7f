import EventLoop

/// An estimate of the time at which a queue has applied the settlements that were sent.
///
/// RabbitMQ's client of a quorum queue buffers further settlements while 32 are not applied. The client discards the
/// buffered settlements when the channel closes (`SOFT_LIMIT` in `rabbit_fifo_client`). AMQP does not show when a
/// settlement is applied.
struct UnappliedSettlements {
    static let unappliedMax = 32
    /// The assumed time to apply a settlement. A slower queue may lose later settlements.
    static let applySecondsMax: Int64 = 2
    private static let periodNanoseconds = applySecondsMax * 1_000_000_000

    /// The start of the current period. Settlements are counted in this period and in the previous period.
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

    /// The time at which every settlement counts as applied; nil if there are too few settlements for RabbitMQ to
    /// buffer any.
    var safeAt: MonotonicTime? {
        countBefore + count > Self.unappliedMax ? last + .seconds(Self.applySecondsMax) : nil
    }
}
