import EventLoop

/// A failure of a connection or channel, and the delay and time of the next attempt.
struct Retry: Equatable {
    var error: AMQPError
    var delay: Duration
    var at: MonotonicTime
}

extension Backoff {
    init(_ configuration: ConnectionConfiguration) {
        self.init(
            least: .milliseconds(configuration.retryDelayMillisecondsMin),
            first: .milliseconds(configuration.retryDelayMilliseconds),
            longest: .milliseconds(configuration.retryDelayMillisecondsMax),
            healthyAfter: .seconds(configuration.healthyAfterSeconds))
    }

    mutating func retry(after error: AMQPError, now: MonotonicTime, random: UInt64) -> Retry {
        let delay = failed(isRetriable: error.isRetriable, now: now, random: random)
        return Retry(error: error, delay: delay, at: now + delay)
    }
}
