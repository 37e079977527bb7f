/// What everything at the broker is called: one prefix, then a word for what it holds.
public struct TopologyNames: Sendable, Hashable {
    /// First part of every name.
    public let prefix: String

    /// Producers publish here with any routing key (or straight to `requestsQueue` through the default exchange).
    public let requestsExchange: String
    /// Workers consume from here.
    public let requestsQueue: String
    /// Direct: the routing key is the bucket's (``RetryBucket/routingKey``).
    public let retryExchange: String
    /// Topic: `result.<outcome>.<app>`. What no queue takes goes to `unroutedExchange`.
    public let resultsExchange: String
    /// The results of whoever binds no queue of their own.
    public let resultsQueue: String
    /// Topic: `dead.<class>.<code>.<app>`.
    public let deadExchange: String
    /// What operators work through.
    public let deadQueue: String
    /// Fanout: where the broker itself puts what a queue rejects, such as a body that is too large.
    public let brokerDeadLettersExchange: String
    /// Fanout: results that nobody was bound for.
    public let unroutedExchange: String
    public let unroutedQueue: String

    /// - Parameter requestsQueue: default `<prefix>.requests`.
    public init(prefix: String = "push", requestsQueue: String? = nil) {
        self.prefix = prefix
        self.requestsExchange = "\(prefix).requests"
        self.requestsQueue = requestsQueue ?? "\(prefix).requests"
        self.retryExchange = "\(prefix).retry"
        self.resultsExchange = "\(prefix).results"
        self.resultsQueue = "\(prefix).results"
        self.deadExchange = "\(prefix).dead"
        self.deadQueue = "\(prefix).dead"
        self.brokerDeadLettersExchange = "\(prefix).dlx"
        self.unroutedExchange = "\(prefix).unrouted"
        self.unroutedQueue = "\(prefix).unrouted"
    }

    /// Where a message waits for the bucket's delay. The name carries the delay, because a queue's cannot be changed.
    public func retryQueue(_ bucket: RetryBucket) -> String { "\(retryExchange).\(bucket.routingKey)" }
}
