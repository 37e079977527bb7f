/// What a histogram stood at: a value, of which an earlier one can be taken away.
public struct HistogramReading: Sendable, Hashable {
    public let unit: Histogram.Unit
    /// The largest value of each bucket, ascending.
    public let bounds: [Int]
    /// Observations in each bucket, those beyond the last bound at the end.
    public private(set) var counts: [Int]
    /// All values together.
    public private(set) var sum: Int

    /// - Parameter counts: one more than there are bounds.
    public init(unit: Histogram.Unit, bounds: [Int], counts: [Int], sum: Int) {
        precondition(counts.count == bounds.count + 1, "each bucket has a count")
        (self.unit, self.bounds, self.counts, self.sum) = (unit, bounds, counts, sum)
    }

    /// Observations.
    public var count: Int { counts.reduce(0, &+) }

    public mutating func add(_ other: HistogramReading) {
        precondition(bounds == other.bounds, "the buckets are the same")
        for index in counts.indices { counts[index] &+= other.counts[index] }
        sum &+= other.sum
    }

    /// What was observed since an earlier reading of the same histogram.
    public func since(_ earlier: HistogramReading?) -> HistogramReading {
        guard let earlier, earlier.bounds == bounds else { return self }
        let differences = zip(counts, earlier.counts).map { $0 &- $1 }
        return HistogramReading(unit: unit, bounds: bounds, counts: differences, sum: sum &- earlier.sum)
    }

    /// The value that this part of the observations does not exceed, taken to be spread evenly within each bucket.
    ///
    /// - Parameter part: from 0 to 1.
    /// - Returns: nil when nothing was observed; the last bound for what lies beyond it.
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

    func told(_ value: Int) -> String {
        switch unit {
        case .nanoseconds: String(Double(value) / 1_000_000_000)
        case .plain: String(value)
        }
    }
}
