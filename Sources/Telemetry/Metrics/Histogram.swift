/// The distribution of observed values over fixed buckets. A reader may see an observation in its bucket but not in the
/// sum, or the reverse.
public final class Histogram: Sendable {
    public enum Unit: Sendable, Hashable {
        /// Nanoseconds, rendered in seconds as Prometheus requires.
        case nanoseconds
        case plain
    }

    /// Bounds for network operations, from a tenth of a millisecond to ten seconds.
    public static let networkNanoseconds = [
        100_000, 250_000, 500_000, 1_000_000, 2_500_000, 5_000_000, 10_000_000, 25_000_000, 50_000_000, 100_000_000,
        250_000_000, 500_000_000, 1_000_000_000, 2_500_000_000, 5_000_000_000, 10_000_000_000,
    ]

    /// Bounds for waits in queues, from a second to a day.
    public static let waitNanoseconds = [
        1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 21_600, 86_400,
    ].map { $0 * 1_000_000_000 }

    public let unit: Unit
    /// The largest value of each bucket, ascending. One more bucket counts larger values.
    public let bounds: [Int]
    private let buckets: [Counter]
    private let total = Counter()

    public init(unit: Unit, bounds: [Int]) {
        self.unit = unit
        self.bounds = bounds.sorted()
        buckets = (0...bounds.count).map { _ in Counter() }
    }

    public func observe(_ value: Int) {
        var bucket = 0
        while bucket < bounds.count, value > bounds[bucket] { bucket += 1 }
        buckets[bucket].add()
        total.add(value)
    }

    /// Adds observations that were counted elsewhere.
    ///
    /// - Parameters:
    ///   - counts: observations per bucket, including the last bucket, which has no bound.
    ///   - sum: the sum of all values.
    public func add(_ counts: [Int], sum: Int) {
        precondition(counts.count == buckets.count, "bucket counts differ")
        for (bucket, count) in zip(buckets, counts) { bucket.add(count) }
        total.add(sum)
    }

    /// The current counts and sum.
    public var reading: HistogramReading {
        HistogramReading(unit: unit, bounds: bounds, counts: buckets.map(\.value), sum: total.value)
    }
}
