/// What the broker keeps of results that nobody takes: in the queue of results, and in that of results which no queue was
/// bound for. Without bounds they would fill its disk.
public struct ResultsRetention: Sendable, Hashable {
    /// Whether there is a queue that takes every result; without one, results are for those who bind queues of their own.
    public var hasQueue: Bool
    /// Older results are dropped; 1 to ``ageSecondsMax``.
    public var ageSecondsMax: Int
    /// Beyond so many the oldest are dropped; at least 1.
    public var lengthMax: Int

    /// A long weekend, and about a gigabyte.
    public init(hasQueue: Bool = true, ageSecondsMax: Int = 72 * 3600, lengthMax: Int = 1_000_000) {
        self.hasQueue = hasQueue
        self.ageSecondsMax = ageSecondsMax
        self.lengthMax = lengthMax
    }
}
