/// What one sample of one program showed.
struct LatencyFigures: Sendable {
    /// In milliseconds, from the publish to the result.
    var p50: Double
    var p99: Double
    var p999: Double
    /// Of the program, in microseconds a message.
    var processorMicroseconds: Double
    var peakMegabytes: Double

    /// - Parameter latencies: sorted; at least one.
    init(latencies: [Duration], processorMicroseconds: Double, peakMegabytes: Double) {
        func percentile(_ share: Double) -> Double {
            latencies[min(latencies.count - 1, Int(Double(latencies.count) * share))].microseconds / 1000
        }
        (p50, p99, p999) = (percentile(0.5), percentile(0.99), percentile(0.999))
        self.processorMicroseconds = processorMicroseconds
        self.peakMegabytes = peakMegabytes
    }

    /// The median of each figure apart.
    init(medianOf samples: [LatencyFigures]) {
        func median(_ figure: (LatencyFigures) -> Double) -> Double { Figures.median(samples.map(figure)) }
        (p50, p99, p999) = (median(\.p50), median(\.p99), median(\.p999))
        processorMicroseconds = median(\.processorMicroseconds)
        peakMegabytes = median(\.peakMegabytes)
    }
}
