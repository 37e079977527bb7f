/// The present as the deciding types see it: one reading of both clocks, taken by the loop once a turn.
public struct Now: Sendable, Hashable {
    /// For intervals and deadlines.
    public var monotonic: MonotonicTime
    /// The wall clock in nanoseconds since 1970-01-01 UTC; may jump when the clock is set.
    public var unixNanoseconds: Int64

    public init(monotonic: MonotonicTime, unixNanoseconds: Int64) {
        self.monotonic = monotonic
        self.unixNanoseconds = unixNanoseconds
    }

    public var unixMilliseconds: Int64 { unixNanoseconds / 1_000_000 }
    public var unixSeconds: Int64 { unixNanoseconds / 1_000_000_000 }
}
