/// What a pool has done so far.
struct PoolStatistics: Sendable, Hashable {
    /// Requests given to a connection, those that were sent again among them.
    var sent = 0
    var answered = 0
    var unknown = 0
    /// Streams that ended after their time was up.
    var endedLate = 0
}
