import Delivery

/// Limits of configuration changes and of a worker's shutdown.
enum RolloutLimits {
    /// Maximum number of retired generations. Further changes wait.
    static let retiredMax = 4
    /// Timeout for the connection to the broker, and for each answer of the broker, in the topology check before a
    /// change.
    static let brokerSecondsMax = 15
    /// Maximum time that new lanes may need to become ready while the current lanes are ready.
    static let readySecondsMax = 30
    /// Delay before the next attempt to change the configuration after a `temporary` or `notReady` obstacle.
    static let retrySeconds = 10
    /// Maximum time that the worker waits for previous lanes to stop consuming before it announces the change.
    static let announcementSecondsMax = 15
    /// Maximum time that retired lanes may need to settle their deliveries. Afterward, the lanes close, and the broker
    /// redelivers the unacknowledged deliveries.
    ///
    /// The broker requeues an unacknowledged delivery after 30 minutes (`consumer_timeout`). The lane keeps the
    /// outcome in memory and publishes it later, because a results queue can stay full for hours.
    static let finishSecondsMax = 6 * 3600
    /// Maximum time between the drain deadline and the exit of the worker. In this time, the broker applies the last
    /// settlements, and each lane closes its two connections to the broker.
    static let closeGraceSeconds = Lane.settleDeadlineSeconds + 2 * Lane.closeDeadlineSeconds + 1
}
