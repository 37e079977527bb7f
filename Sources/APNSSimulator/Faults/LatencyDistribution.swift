public import EventLoop
import Glibc

/// A distribution of latencies, in milliseconds.
public enum LatencyDistribution: Sendable, Hashable {
    case constant(Double)
    case uniform(min: Double, max: Double)
    /// The normal distribution with this median and 99th percentile. Negative samples become 0.
    case normal(median: Double, p99: Double)
    /// The log-normal distribution, which is typical of services behind a network. The median is above 0.
    case logNormal(median: Double, p99: Double)

    /// Maximum latency. A longer sample is reduced to the maximum.
    public static let millisecondsMax = 600_000.0

    /// The 99th percentile of the standard normal distribution.
    private static let normalP99 = 2.326_347_874_040_841

    /// Returns a random latency from 0 to ``millisecondsMax``.
    public func sample(_ random: inout SeededRandom) -> Duration {
        let milliseconds =
            switch self {
            case .constant(let value): value
            case .uniform(let min, let max): min + (max - min) * Self.unit(&random)
            case .normal(let median, let p99): median + (p99 - median) / Self.normalP99 * Self.normal(&random)
            case .logNormal(let median, let p99):
                median * exp(log(p99 / median) / Self.normalP99 * Self.normal(&random))
            }
        // The log-normal result for a median of 0 is NaN or 0. NaN is not above 0 either.
        guard milliseconds > 0 else { return .zero }
        return .nanoseconds(Int64(min(milliseconds, Self.millisecondsMax) * 1_000_000))
    }

    /// Returns a uniformly distributed number in 0..<1.
    static func unit(_ random: inout SeededRandom) -> Double { Double(random.next() >> 11) * 0x1p-53 }

    /// Returns a random number from the standard normal distribution (Box–Muller transform).
    private static func normal(_ random: inout SeededRandom) -> Double {
        let radius = (-2 * log(1 - unit(&random))).squareRoot()
        return radius * cos(2 * .pi * unit(&random))
    }
}
