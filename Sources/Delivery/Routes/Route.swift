/// The endpoint, credential and topic of a push.
public struct Route: Sendable, Hashable {
    /// The number of the connection pool in its lane. Each combination of environment, kind of endpoint and credential
    /// has its own pool.
    public var pool: Int
    /// The number of the route among all topics of all apps, in both environments.
    public var number: Int

    public init(pool: Int, number: Int) {
        self.pool = pool
        self.number = number
    }
}
