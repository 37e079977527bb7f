/// A point on a monotonic clock, in nanoseconds from an arbitrary start. The clock never runs backward.
public struct MonotonicTime: Sendable, Hashable, Comparable {
    public var nanoseconds: Int64

    public init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    public static let distantFuture = MonotonicTime(nanoseconds: .max)

    public static func < (left: Self, right: Self) -> Bool {
        left.nanoseconds < right.nanoseconds
    }

    public static func + (time: Self, duration: Duration) -> Self {
        MonotonicTime(nanoseconds: time.nanoseconds.addingSaturated(duration.nanosecondsSaturated))
    }

    /// Returns the same as `+`, without the 128-bit division of a `Duration`.
    public func adding(seconds: Int64) -> Self {
        let (nanoseconds, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let added = overflow ? (seconds < 0 ? -Int64.max : .max) : nanoseconds
        return MonotonicTime(nanoseconds: self.nanoseconds.addingSaturated(added))
    }

    public static func - (time: Self, duration: Duration) -> Self {
        MonotonicTime(nanoseconds: time.nanoseconds.addingSaturated(-duration.nanosecondsSaturated))
    }

    /// Returns the time from `self` to `later`; negative if `later` is earlier.
    public func duration(to later: MonotonicTime) -> Duration {
        .nanoseconds(later.nanoseconds &- nanoseconds)
    }

    /// Returns whether the time is at or after `start` and less than `window` later.
    public func isWithin(_ window: Duration, of start: MonotonicTime) -> Bool {
        let passed = start.duration(to: self)
        return passed >= .zero && passed < window
    }
}

extension Duration {
    /// Whole nanoseconds, limited to the range of `Int64`, about 292 years in either direction.
    public var nanosecondsSaturated: Int64 {
        let whole = attoseconds / 1_000_000_000
        return Int64(exactly: whole) ?? (whole < 0 ? -Int64.max : .max)
    }
}

extension Int64 {
    fileprivate func addingSaturated(_ other: Int64) -> Int64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? (other < 0 ? .min : .max) : sum
    }
}
