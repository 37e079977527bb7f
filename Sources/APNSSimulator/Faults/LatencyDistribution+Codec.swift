import JSON

extension LatencyDistribution {
    static let codec = LatencyMembers.codec.converted(
        read: { latency, members throws(InputError) in try latency.distribution(members) },
        write: { LatencyMembers($0) })
}

/// The JSON members of a latency, in milliseconds. The distribution determines which members are present.
struct LatencyMembers: Sendable {
    enum Shape: String, CaseIterable {
        case normal
        case logNormal = "log_normal"
    }

    var constant: Double?
    var min: Double?
    var max: Double?
    var median: Double?
    var p99: Double?
    /// The shape of a distribution with a median; nil means `logNormal`.
    var shape: Shape?

    private static let milliseconds = ValueCodec.number(0...LatencyDistribution.millisecondsMax)

    static let codec = ObjectCodec(
        "a latency", from: LatencyMembers(),
        [
            .optional("constant_ms", \.constant, milliseconds, "constant delay"),
            .optional("min_ms", \.min, milliseconds, "minimum delay; requires `max_ms`"),
            .optional("max_ms", \.max, milliseconds, "maximum delay; requires `min_ms`"),
            .optional("median_ms", \.median, milliseconds, "median delay; requires `p99_ms`"),
            .optional("p99_ms", \.p99, milliseconds, "99th percentile of the delay; requires `median_ms`"),
            .optional(
                "shape", \.shape, .word,
                "distribution with `median_ms` and `p99_ms`: `log_normal` (default) or `normal`"),
        ])
}

extension LatencyMembers {
    init(_ distribution: LatencyDistribution) {
        switch distribution {
        case .constant(let value): constant = value
        case .uniform(let min, let max): (self.min, self.max) = (min, max)
        case .normal(let median, let p99): (self.median, self.p99, shape) = (median, p99, .normal)
        case .logNormal(let median, let p99): (self.median, self.p99) = (median, p99)
        }
    }

    func distribution(_ members: ObjectMembers) throws(InputError) -> LatencyDistribution {
        switch (constant, min, max, median, p99) {
        case (let constant?, nil, nil, nil, nil) where shape == nil: return .constant(constant)
        case (nil, let min?, let max?, nil, nil) where min <= max && shape == nil: return .uniform(min: min, max: max)
        case (nil, nil, nil, let median?, let p99?) where median <= p99:
            if shape == .normal { return .normal(median: median, p99: p99) }
            guard median > 0 else { throw members.error("median_ms", "must be above 0 with the shape log_normal") }
            return .logNormal(median: median, p99: p99)
        default:
            throw members.error(
                "a latency requires either constant_ms, or min_ms <= max_ms, or median_ms <= p99_ms and an optional "
                    + "shape"
            )
        }
    }
}
