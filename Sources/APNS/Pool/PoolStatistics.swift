/// What a pool has done so far.
struct PoolStatistics: Sendable, Hashable {
    var unknown = 0
    /// Streams that ended after their time was up.
    var endedLate = 0
}
