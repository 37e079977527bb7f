/// Counters of a pool since its creation.
struct PoolStatistics: Sendable, Hashable {
    var unknown = 0
    /// Number of streams that ended after their push had timed out.
    var endedLate = 0
}
