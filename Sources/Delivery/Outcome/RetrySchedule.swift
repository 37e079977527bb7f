/// When a message is tried again, and how often.
public struct RetrySchedule: Sendable, Hashable {
    /// Tries that APNs may have processed, after which a message is given up.
    public var attemptsMax: Int
    /// Where a transient refusal or an unknown outcome waits.
    public var bucket: RetryBucket

    public init(attemptsMax: Int = 5, bucket: RetryBucket = .default) {
        self.attemptsMax = max(1, attemptsMax)
        self.bucket = bucket
    }
}

/// A message that waits to be tried again.
public struct Retry: Sendable, Hashable {
    public var bucket: RetryBucket
    /// As they stand before the next try.
    public var attempts: Attempts
    /// APNs' reason or ours, for operators who look into the retry queue.
    public var reason: String
}
