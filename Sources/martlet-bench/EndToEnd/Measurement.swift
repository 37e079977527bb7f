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
        func median(_ figure: (Measurement) -> Double) -> Double { Figures.median(samples.map(figure)) }
        return Measurement(
            messagesPerSecond: median(\.messagesPerSecond), userMicroseconds: median(\.userMicroseconds),
            systemMicroseconds: median(\.systemMicroseconds), brokerMicroseconds: median(\.brokerMicroseconds),
            simulatorMicroseconds: median(\.simulatorMicroseconds), peakMegabytes: median(\.peakMegabytes))
    }
}
