/// The retention of results that no consumer receives, in the result queue and in the queue of unrouted results.
/// Without bounds, unread results would fill the broker's disk.
public struct ResultsRetention: Sendable, Hashable {
    /// Whether a queue receives every result. Otherwise, consumers bind their own queues.
    public var hasQueue: Bool
    /// The age at which the broker drops results, in seconds; at least 1.
    public var ageSecondsMax: Int
    /// The number of results beyond which the broker drops the oldest; at least 1.
    public var lengthMax: Int

    /// Creates a retention. The default age covers a long weekend. The default number of results amounts to about 1
    /// GB.
    public init(hasQueue: Bool = true, ageSecondsMax: Int = 72 * 3600, lengthMax: Int = 1_000_000) {
        self.hasQueue = hasQueue
        self.ageSecondsMax = ageSecondsMax
        self.lengthMax = lengthMax
    }
}
