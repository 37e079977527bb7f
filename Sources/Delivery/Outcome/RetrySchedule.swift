public import BrokerTopology

/// When a message is tried again, and how often.
public struct RetrySchedule: Sendable, Hashable {
    /// Tries that APNs may have processed, after which a message is given up.
    public var attemptsMax: Int
    /// Seconds after the first such try until which it is tried again.
    public var ageSecondsMax: Int
    /// Seconds for which a message is held up by an open breaker before it is given up.
    public var holdSecondsMax: Int
    /// The first failure waits the first of these, the next the next; ascending, at least one.
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
