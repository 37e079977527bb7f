import Delivery

/// Bounds of a change of the configuration and of the end of a worker.
enum RolloutLimits {
    /// Retired generations. Further changes wait.
    static let retiredMax = 4
    /// How long the broker may take to accept a connection, and for each answer, before a change.
    static let brokerSecondsMax = 15
    /// How long new lanes may take to become ready while the current ones are ready.
    static let readySecondsMax = 30
    /// Delay before a change is tried again after an obstacle that can pass by itself.
    static let retrySeconds = 10
    /// How long previous lanes may take to stop consuming before the change is announced nevertheless.
    static let announcementSecondsMax = 15
    /// How long retired lanes may take to settle their deliveries. Then they close, and the broker delivers these again.
    ///
    /// The broker requeues an unacknowledged delivery after 30 minutes (`consumer_timeout`). The lane then publishes the
    /// outcome from memory: a queue of results that is full can stay so for hours.
    static let finishSecondsMax = 6 * 3600
    /// How long lanes may take after the drain deadline to close their two connections to the broker.
    static let closeGraceSeconds = Lane.settleDeadlineSeconds + 2 * Lane.closeDeadlineSeconds + 1
}
