/// When a message is tried again, and how often.
public struct RetrySchedule: Sendable, Hashable {
    /// Tries that APNs may have processed, after which a message is given up.
    public var attemptsMax: Int
    /// Since its first counted try, after which a message is given up.
    public var ageSecondsMax: Int
    /// How long a message may be held because of a fault that is not its own.
    public var holdSecondsMax: Int
    /// Ascending, at least one.
    public var waits: [WaitDelay]

    public init(
        attemptsMax: Int = 8, ageSecondsMax: Int = 86_400, holdSecondsMax: Int = 86_400,
        waits: [WaitDelay] = WaitDelay.defaults
    ) {
        self.attemptsMax = max(1, attemptsMax)
        self.ageSecondsMax = ageSecondsMax
        self.holdSecondsMax = holdSecondsMax
        self.waits = waits
    }
}

/// A message that waits to be tried again.
public struct Retry: Sendable, Hashable {
    public var wait: WaitDelay
    /// As they stand before the next try.
    public var attempts: Attempts
    /// APNs' reason or ours, for operators who look into its wait queue.
    public var reason: String
}
