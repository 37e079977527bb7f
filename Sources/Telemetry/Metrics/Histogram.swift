/// How observed values are spread over fixed buckets. Relaxed atomics: a reader may see an observation's bucket before
/// its sum.
public final class Histogram: Sendable {
    /// What a value counts.
    public enum Unit: Sendable {
        /// Nanoseconds, told in seconds as Prometheus wants them.
        case nanoseconds
        case plain
    }

    /// From a tenth of a millisecond to ten seconds, for what takes a network's time.
    public static let networkNanoseconds = [
        100_000, 250_000, 500_000, 1_000_000, 2_500_000, 5_000_000, 10_000_000, 25_000_000, 50_000_000, 100_000_000,
        250_000_000, 500_000_000, 1_000_000_000, 2_500_000_000, 5_000_000_000, 10_000_000_000,
    ]

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
        let bucket = bounds.firstIndex { value <= $0 } ?? bounds.count
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

    /// Observations in each bucket, the rest last.
    public var counts: [Int] { buckets.map(\.value) }

    /// All values together.
    public var sum: Int { total.value }

    /// The bound below or at which this part of the observations lies: an upper estimate of a quantile.
    ///
    /// - Returns: nil when nothing was observed or it lies beyond the last bound.
    public func bound(ofQuantile quantile: Double) -> Int? {
        let counts = counts
        let all = counts.reduce(0, &+)
        guard all > 0 else { return nil }
        var below = 0
        for (bound, count) in zip(bounds, counts) {
            below &+= count
            if Double(below) >= quantile * Double(all) { return bound }
        }
        return nil
    }
}
