/// What a pool has done so far.
public struct PoolStatistics: Sendable, Hashable {
    /// Requests given to a connection, those that were sent again among them.
    public var sent = 0
    public var answered = 0
    /// Pushes sent again within the pool: refused unprocessed, or with a new token.
    public var resent = 0
    public var unknown = 0
    /// Streams that ended after their time was up.
    public var endedLate = 0
    /// Connections begun.
    public var connects = 0
}
