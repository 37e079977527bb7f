/// One reading of all clocks.
public struct Now: Sendable, Hashable {
    /// The clock for intervals and deadlines. Like the loop's timers, it does not advance while the machine is
    /// suspended.
    public var monotonic: MonotonicTime
    /// The clock for ages that other systems also measure, such as the age of a provider token. It advances while the
    /// machine is suspended, and is never set.
    public var sinceBoot: MonotonicTime
    /// The wall clock in nanoseconds since 1970-01-01 UTC. It may jump when the clock is set.
    public var unixNanoseconds: Int64

    /// Creates a reading.
    ///
    /// - Parameter sinceBoot: nil if the machine was never suspended.
    public init(monotonic: MonotonicTime, sinceBoot: MonotonicTime? = nil, unixNanoseconds: Int64) {
        self.monotonic = monotonic
        self.sinceBoot = sinceBoot ?? monotonic
        self.unixNanoseconds = unixNanoseconds
    }

    public var unixMilliseconds: Int64 { unixNanoseconds / 1_000_000 }
    public var unixSeconds: Int64 { unixNanoseconds / 1_000_000_000 }
}
