/// The delay before the next attempt. The delay grows exponentially, with random jitter, so that many workers do not
/// reconnect at the same time.
package struct Backoff {
    package let least: Duration
    package let first: Duration
    package let longest: Duration
    package let healthyAfter: Duration
    /// The number of failures since the last ready period of at least `healthyAfter`.
    package private(set) var failures = 0
    private var readySince: MonotonicTime?

    package init(least: Duration, first: Duration, longest: Duration, healthyAfter: Duration) {
        self.least = least
        self.first = max(least, first)
        self.longest = max(self.first, longest)
        self.healthyAfter = healthyAfter
    }

    package mutating func becameReady(now: MonotonicTime) {
        readySince = now
    }

    /// Returns the delay after a failure. After a failure that needs an operator (`isRetriable` is false), the delay is
    /// always between half of `longest` and `longest`.
    package mutating func failed(isRetriable: Bool, now: MonotonicTime, random: UInt64) -> Duration {
        if let since = readySince, since.duration(to: now) >= healthyAfter { failures = 0 }
        readySince = nil
        failures += 1
        let longest = longest.nanosecondsSaturated
        if !isRetriable {
            return .nanoseconds(longest / 2 + Self.fraction(of: longest / 2, random))
        }
        let (doubled, overflow) = first.nanosecondsSaturated.multipliedReportingOverflow(
            by: 1 << Int64(min(failures - 1, 30)))
        let most = overflow ? longest : min(longest, doubled)
        let least = least.nanosecondsSaturated
        return .nanoseconds(least + Self.fraction(of: most - least, random))
    }

    private static func fraction(of whole: Int64, _ random: UInt64) -> Int64 {
        Int64(UInt64(max(0, whole)).multipliedFullWidth(by: random).high)
    }
}
