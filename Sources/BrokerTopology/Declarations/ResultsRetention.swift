/// The retention of results that no consumer receives, in the result queue and in the queue of unrouted results.
/// Without bounds, they would fill the broker's disk.
public struct ResultsRetention: Sendable, Hashable {
    /// Whether a queue receives every result. Otherwise, consumers bind their own queues.
    public var hasQueue: Bool
    /// The broker drops older results; at least 1.
    public var ageSecondsMax: Int
    /// The broker drops the oldest results beyond this number; at least 1.
    public var lengthMax: Int

    /// The defaults keep results over a long weekend, and about a gigabyte.
    public init(hasQueue: Bool = true, ageSecondsMax: Int = 72 * 3600, lengthMax: Int = 1_000_000) {
        self.hasQueue = hasQueue
        self.ageSecondsMax = ageSecondsMax
        self.lengthMax = lengthMax
    }
}
