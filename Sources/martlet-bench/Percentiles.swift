/// Percentiles of latencies, in milliseconds.
struct Percentiles: Sendable {
    var p50: Double
    var p99: Double
    var p999: Double

    /// Computes the percentiles of latencies.
    ///
    /// - Parameter latencies: At least one latency, in ascending order.
    init(of latencies: [Duration]) {
        func percentile(_ share: Double) -> Double {
            latencies[min(latencies.count - 1, Int(Double(latencies.count) * share))].microseconds / 1000
        }
        (p50, p99, p999) = (percentile(0.5), percentile(0.99), percentile(0.999))
    }

    /// Computes the medians of the percentiles of several samples.
    init(medianOf samples: [Percentiles]) {
        func median(_ figure: (Percentiles) -> Double) -> Double { Figures.median(samples.map(figure)) }
        (p50, p99, p999) = (median(\.p50), median(\.p99), median(\.p999))
    }

    /// Parses the format of `words`. Returns nil for another format.
    init?(_ words: some Sequence<Substring>) {
        let figures = words.map { Double($0) }
        guard figures.count == 3, let p50 = figures[0], let p99 = figures[1], let p999 = figures[2] else { return nil }
        (self.p50, self.p99, self.p999) = (p50, p99, p999)
    }

    /// The three figures, separated by spaces.
    var words: String { "\(p50) \(p99) \(p999)" }
}
