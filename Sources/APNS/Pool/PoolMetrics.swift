package import EventLoop
public import Telemetry

/// The metrics of a pool.
public struct PoolMetrics: Sendable {
    /// Time from the submission of a push to the pool until the push got a stream.
    public let stream: Histogram
    /// Time from the start of the stream until the answer.
    public let answer: Histogram
    /// Number of connects, including failed connects.
    public let connects: Counter
    /// Number of resends within the pool, for the causes in ``ResendPolicy``.
    public let resent: Counter

    public init(stream: Histogram, answer: Histogram, connects: Counter, resent: Counter) {
        (self.stream, self.answer) = (stream, answer)
        (self.connects, self.resent) = (connects, resent)
    }

    /// Creates metrics that are not exported.
    public init() {
        self.init(
            stream: Histogram(unit: .nanoseconds, bounds: Histogram.networkNanoseconds),
            answer: Histogram(unit: .nanoseconds, bounds: Histogram.networkNanoseconds), connects: Counter(),
            resent: Counter())
    }
}

extension Histogram {
    package func observe(_ from: MonotonicTime, _ to: MonotonicTime) {
        observe(Int(to.nanoseconds &- from.nanoseconds))
    }
}
