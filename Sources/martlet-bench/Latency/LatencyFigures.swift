/// The figures of one sample of one program.
struct LatencyFigures: Sendable {
    /// The time from the publish to the result.
    var latency: Percentiles
    /// The processor time of the program, in microseconds per request.
    var processorMicroseconds: Double
    var peakMegabytes: Double

    var figures: [Figure] {
        latency.figures + [
            Figure(title: "CPU µs/request", key: "cpu_us_per_message", value: processorMicroseconds, places: 1),
            Figure(title: "peak MB", key: "peak_mb", value: peakMegabytes, places: 1),
        ]
    }

    /// Returns the median of each figure.
    static func median(_ samples: [LatencyFigures]) -> LatencyFigures {
        LatencyFigures(
            latency: Percentiles(medianOf: samples.map(\.latency)),
            processorMicroseconds: Figures.median(samples.map(\.processorMicroseconds)),
            peakMegabytes: Figures.median(samples.map(\.peakMegabytes)))
    }
}
