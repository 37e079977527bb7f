import Delivery
package import JSON
import Telemetry

extension WorkerTotals {
    package static let codec = ObjectCodec(
        "totals", from: WorkerTotals(), ignoresUnknown: true,
        [.member("taken", \.taken, .integer)]
            + Outcome.allCases.map { .member($0.rawValue, \.ended[$0.number], .integer) }
            + [
                .member("dead_letters", \.deadLetters, .integer),
                .member("retried", \.retried, .integer),
                .member("held", \.held, .integer),
                .member("quarantined", \.quarantined, .integer),
                .member("requeued", \.requeued, .integer),
                .member("duplicates", \.duplicates, .integer),
                .member("unknown_outcomes", \.unknownOutcomes, .integer),
                .member("publish_repeats", \.publishRepeats, .integer),
                .optional("latency", \.latency, LatencyReading.codec),
            ])
}

/// The members of a latency histogram.
private struct LatencyReading: Sendable {
    /// Maximum count. Larger counts could overflow the sums over lanes and workers.
    private static let countMax = 1 << 40
    /// Maximum bound. Larger bounds may be inexact as floating-point numbers.
    private static let boundMax = 1 << 53

    var bounds: [Int] = []
    var counts: [Int] = []
    var sum = 0

    static let codec = ObjectCodec(
        "a latency", from: LatencyReading(), ignoresUnknown: true,
        [
            .member("bounds_nanoseconds", \.bounds, .list(of: .int(0...boundMax), "a bound")),
            .member("counts", \.counts, .list(of: .int(0...countMax), "a count")),
            .member("sum_nanoseconds", \.sum, .integer),
        ]
    ).converted(
        read: { latency, members throws(InputError) in
            guard latency.counts.count == latency.bounds.count + 1, latency.bounds == latency.bounds.sorted() else {
                throw members.error("a latency must have ascending bounds, and one more count than bounds")
            }
            return HistogramReading(
                unit: .nanoseconds, bounds: latency.bounds, counts: latency.counts, sum: latency.sum)
        },
        write: { LatencyReading(bounds: $0.bounds, counts: $0.counts, sum: $0.sum) })
}
