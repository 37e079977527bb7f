/// The values of a histogram at one time. An earlier reading can be subtracted.
public struct HistogramReading: Sendable, Hashable {
    public let unit: Histogram.Unit
    /// The largest value of each bucket, ascending.
    public let bounds: [Int]
    /// The number of observations in each bucket. The last bucket contains values beyond the last bound.
    public private(set) var counts: [Int]
    public private(set) var sum: Int

    /// Creates a reading.
    ///
    /// - Parameter counts: the number of observations in each bucket, with one more element than `bounds`.
    public init(unit: Histogram.Unit, bounds: [Int], counts: [Int], sum: Int) {
        precondition(counts.count == bounds.count + 1, "the number of counts does not match the bounds")
        (self.unit, self.bounds, self.counts, self.sum) = (unit, bounds, counts, sum)
    }

    public var count: Int { counts.reduce(0, &+) }

    public mutating func add(_ other: HistogramReading) {
        precondition(bounds == other.bounds, "bucket bounds differ")
        for index in counts.indices { counts[index] &+= other.counts[index] }
        sum &+= other.sum
    }

    /// Returns the observations since an earlier reading. Returns all observations if that reading is nil or has other
    /// bounds.
    public func since(_ earlier: HistogramReading?) -> HistogramReading {
        guard let earlier, earlier.bounds == bounds else { return self }
        let differences = zip(counts, earlier.counts).map { $0 &- $1 }
        return HistogramReading(unit: unit, bounds: bounds, counts: differences, sum: sum &- earlier.sum)
    }

    /// Estimates the value that this fraction of the observations does not exceed, by linear interpolation within a
    /// bucket.
    ///
    /// - Parameter part: from 0 to 1.
    /// - Returns: nil without observations; the last bound if the quantile is beyond it.
    public func quantile(_ part: Double) -> Int? {
        let rank = part * Double(count)
        guard count > 0 else { return nil }
        var below = 0
        for (index, bound) in bounds.enumerated() {
            let before = below
            below &+= counts[index]
            guard counts[index] > 0, Double(below) >= rank else { continue }
            let lower = index == 0 ? 0 : bounds[index - 1]
            return lower + Int(Double(bound - lower) * max(0, rank - Double(before)) / Double(counts[index]))
        }
        return bounds.last
    }

    func rendered(_ value: Int) -> String {
        switch unit {
        case .nanoseconds: String(Double(value) / 1_000_000_000)
        case .plain: String(value)
        }
    }
}
