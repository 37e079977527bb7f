/// How observed values are spread over fixed buckets. Relaxed atomics: a reader may see an observation's bucket before
/// its sum.
public final class Histogram: Sendable {
    /// What a value counts.
    public enum Unit: Sendable, Hashable {
        /// Nanoseconds, told in seconds as Prometheus wants them.
        case nanoseconds
        case plain
    }

    /// From a tenth of a millisecond to ten seconds, for what takes a network's time.
    public static let networkNanoseconds = [
        100_000, 250_000, 500_000, 1_000_000, 2_500_000, 5_000_000, 10_000_000, 25_000_000, 50_000_000, 100_000_000,
        250_000_000, 500_000_000, 1_000_000_000, 2_500_000_000, 5_000_000_000, 10_000_000_000,
    ]

    /// From a second to a day, for what may wait in queues.
    public static let waitNanoseconds = [
        1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 21_600, 86_400,
    ].map { $0 * 1_000_000_000 }

    public let unit: Unit
    /// The largest value of each bucket, ascending; one more bucket takes the rest.
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

    /// Takes over what was observed elsewhere.
    ///
    /// - Parameters:
    ///   - counts: in each bucket, the rest last; as many as there are here.
    ///   - sum: of all values.
    public func add(_ counts: [Int], sum: Int) {
        precondition(counts.count == buckets.count, "the buckets are the same")
        for (bucket, count) in zip(buckets, counts) { bucket.add(count) }
        total.add(sum)
    }

    /// What it stands at.
    public var reading: HistogramReading {
        HistogramReading(unit: unit, bounds: bounds, counts: buckets.map(\.value), sum: total.value)
    }
}
