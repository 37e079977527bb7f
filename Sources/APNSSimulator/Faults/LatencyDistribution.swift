public import EventLoop
import Glibc

/// How long answers take, in milliseconds.
public enum LatencyDistribution: Sendable, Hashable {
    case constant(Double)
    case uniform(min: Double, max: Double)
    /// The bell curve with this median and 99th percentile; what falls below 0 is 0.
    case normal(median: Double, p99: Double)
    /// The curve whose logarithm is the bell, as the times of services behind a network often are; the median is above 0.
    case logNormal(median: Double, p99: Double)

    /// What no answer takes longer than.
    public static let millisecondsMax = 600_000.0

    /// The 99th percentile of the normal distribution with variance 1.
    private static let normalP99 = 2.326_347_874_040_841

    /// A latency from 0 to ``millisecondsMax``.
    public func sample(_ random: inout SeededRandom) -> Duration {
        let milliseconds =
            switch self {
            case .constant(let value): value
            case .uniform(let min, let max): min + (max - min) * Self.unit(&random)
            case .normal(let median, let p99): median + (p99 - median) / Self.normalP99 * Self.normal(&random)
            case .logNormal(let median, let p99):
                median * exp(log(p99 / median) / Self.normalP99 * Self.normal(&random))
            }
        // What is not a number, as of a median of 0, is not above 0 either.
        guard milliseconds > 0 else { return .zero }
        return .nanoseconds(Int64(min(milliseconds, Self.millisecondsMax) * 1_000_000))
    }

    /// A number from 0 to below 1, evenly spread.
    static func unit(_ random: inout SeededRandom) -> Double { Double(random.next() >> 11) * 0x1p-53 }

    /// A number of the normal distribution with variance 1 (Box and Muller).
    private static func normal(_ random: inout SeededRandom) -> Double {
        let radius = (-2 * log(1 - unit(&random))).squareRoot()
        return radius * cos(2 * .pi * unit(&random))
    }
}
