package import EventLoop
public import Telemetry

/// Where a pool counts what operators look at.
public struct PoolMetrics: Sendable {
    /// From when a push was given to the pool until it had a stream.
    public let stream: Histogram
    /// From then to the answer.
    public let answer: Histogram
    /// Connections begun.
    public let connects: Counter
    /// Pushes sent again within the pool: refused unprocessed, or with a new token.
    public let resent: Counter

    public init(stream: Histogram, answer: Histogram, connects: Counter, resent: Counter) {
        (self.stream, self.answer) = (stream, answer)
        (self.connects, self.resent) = (connects, resent)
    }

    /// Told to nobody.
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
