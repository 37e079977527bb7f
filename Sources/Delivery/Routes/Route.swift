/// Where a push goes and by what right: the endpoint with its credential, and the topic.
public struct Route: Sendable, Hashable {
    /// Which of the lane's connection pools serves it: one for each environment, kind of endpoint and credential.
    public var pool: Int
    /// Its number among all topics of all apps, in both environments.
    public var number: Int

    public init(pool: Int, number: Int) {
        self.pool = pool
        self.number = number
    }
}
