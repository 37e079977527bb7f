/// Counters of a pool since its creation.
struct PoolStatistics: Sendable, Hashable {
    var unknown = 0
    /// Streams that ended after the push had timed out.
    var endedLate = 0
}
