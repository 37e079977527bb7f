public import BrokerTopology

/// The delays and limits of retries.
public struct RetrySchedule: Sendable, Hashable {
    /// The number of attempts after which a request is given up.
    public var attemptsMax: Int
    /// The time after the first failed attempt during which a request is retried, in seconds.
    public var ageSecondsMax: Int
    /// The time for which a request is held before it is given up, in seconds.
    public var holdSecondsMax: Int
    /// The waits after the first attempt, the second, and so on. Ascending; at least one.
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
