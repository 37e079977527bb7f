/// The present as the deciding types see it: one reading of all clocks, taken by the loop once a turn.
public struct Now: Sendable, Hashable {
    /// For intervals and deadlines. Stands still while the machine is suspended, as the loop's timers do.
    public var monotonic: MonotonicTime
    /// For the age of what the world outside counts: goes on while the machine is suspended, and is never set.
    public var sinceBoot: MonotonicTime
    /// The wall clock in nanoseconds since 1970-01-01 UTC; may jump when the clock is set.
    public var unixNanoseconds: Int64

    /// - Parameter sinceBoot: nil for a machine that was never suspended.
    public init(monotonic: MonotonicTime, sinceBoot: MonotonicTime? = nil, unixNanoseconds: Int64) {
        self.monotonic = monotonic
        self.sinceBoot = sinceBoot ?? monotonic
        self.unixNanoseconds = unixNanoseconds
    }

    public var unixMilliseconds: Int64 { unixNanoseconds / 1_000_000 }
    public var unixSeconds: Int64 { unixNanoseconds / 1_000_000_000 }
}
