import EventLoop

/// A histogram of the latencies of answers.
public struct Latencies: Sendable, Hashable {
    /// Upper bounds of the buckets. A further bucket has no bound.
    public static let boundsNanoseconds = [
        100_000, 1_000_000, 5_000_000, 10_000_000, 25_000_000, 50_000_000, 100_000_000, 250_000_000, 500_000_000,
        1_000_000_000, 2_500_000_000, 5_000_000_000, 10_000_000_000, 30_000_000_000, 60_000_000_000,
    ]

    /// Number of answers in each bucket.
    public private(set) var counts = Array(repeating: 0, count: boundsNanoseconds.count + 1)
    public private(set) var sumNanoseconds = 0

    mutating func count(_ latency: Duration) {
        let nanoseconds = Int(latency.nanosecondsSaturated)
        let bucket = Self.boundsNanoseconds.firstIndex { nanoseconds <= $0 } ?? Self.boundsNanoseconds.count
        counts[bucket] += 1
        sumNanoseconds = sumNanoseconds.addingReportingOverflow(nanoseconds).partialValue
    }
}
