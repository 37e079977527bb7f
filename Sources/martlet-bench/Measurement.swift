/// The cost of one sample of one program, per unit of work: a message or a request.
struct Measurement: Sendable {
    /// A process on the other side of the measured program.
    enum Peer: String, CaseIterable, Sendable {
        case broker
        case simulator
        case server
    }

    enum Unit: String, Sendable {
        case message
        case request
    }

    var perSecond: Double
    /// The processor time of the program without its peers, in microseconds per unit.
    var processorMicroseconds: Double
    /// The user and system parts of the processor time. The kernel splits them by sampling; their sum is exact.
    var userMicroseconds: Double
    var systemMicroseconds: Double
    var peerMicroseconds: [Peer: Double]
    /// The peak resident memory from the start of the process to its end.
    var peakMegabytes: Double
    /// The latency of a unit; nil if the program does not report it.
    var latency: Percentiles?

    /// Returns the median of each figure.
    static func median(_ samples: [Measurement]) -> Measurement {
        func median(_ figure: (Measurement) -> Double) -> Double { Figures.median(samples.map(figure)) }
        let peers = samples.first.map { Array($0.peerMicroseconds.keys) } ?? []
        let latencies = samples.compactMap(\.latency)
        return Measurement(
            perSecond: median(\.perSecond), processorMicroseconds: median(\.processorMicroseconds),
            userMicroseconds: median(\.userMicroseconds),
            systemMicroseconds: median(\.systemMicroseconds),
            peerMicroseconds: Dictionary(
                uniqueKeysWithValues: peers.map { peer in (peer, median { $0.peerMicroseconds[peer] ?? 0 }) }),
            peakMegabytes: median(\.peakMegabytes),
            latency: latencies.isEmpty ? nil : Percentiles(medianOf: latencies))
    }
}
