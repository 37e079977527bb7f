import TestKit

/// What one sample of one program cost.
struct Measurement: Sendable {
    var messagesPerSecond: Double
    /// Of the program alone, in microseconds a message.
    var userMicroseconds: Double
    var systemMicroseconds: Double
    /// Of the broker and of the simulator meanwhile, in microseconds a message.
    var brokerMicroseconds: Double
    var simulatorMicroseconds: Double
    /// From the start of the process to its end.
    var peakMegabytes: Double

    var processorMicroseconds: Double { userMicroseconds + systemMicroseconds }

    /// The median of each figure apart.
    static func median(_ samples: [Measurement]) -> Measurement {
        func median(_ figure: (Measurement) -> Double) -> Double {
            let sorted = samples.map(figure).sorted()
            let middle = sorted.count / 2
            return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
        }
        return Measurement(
            messagesPerSecond: median(\.messagesPerSecond), userMicroseconds: median(\.userMicroseconds),
            systemMicroseconds: median(\.systemMicroseconds), brokerMicroseconds: median(\.brokerMicroseconds),
            simulatorMicroseconds: median(\.simulatorMicroseconds), peakMegabytes: median(\.peakMegabytes))
    }
}

extension Duration {
    var microseconds: Double {
        Double(components.seconds) * 1e6 + Double(components.attoseconds) / 1e12
    }
}
