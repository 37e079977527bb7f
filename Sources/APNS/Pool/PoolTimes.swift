package import EventLoop
public import Telemetry

/// How long pushes take in a pool.
public struct PoolTimes: Sendable {
    /// From when a push was given to the pool until it had a stream.
    public let stream: Histogram
    /// From then to the answer.
    public let answer: Histogram

    public init(stream: Histogram, answer: Histogram) {
        self.stream = stream
        self.answer = answer
    }

    /// Told to nobody.
    public init() {
        self.init(
            stream: Histogram(unit: .nanoseconds, bounds: Histogram.networkNanoseconds),
            answer: Histogram(unit: .nanoseconds, bounds: Histogram.networkNanoseconds))
    }
}

extension Histogram {
    package func observe(_ from: MonotonicTime, _ to: MonotonicTime) {
        observe(Int(to.nanoseconds &- from.nanoseconds))
    }
}
