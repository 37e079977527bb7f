/// The figures of one sample of one program.
struct Measurement: Sendable {
    /// A process with which the measured program communicates.
    enum Peer: String, CaseIterable, Sendable {
        case broker
        case simulator
        case server
    }

    /// The name of a unit of work in the keys of JSON reports.
    enum Unit: String, Sendable {
        case message
        case request
    }

    var perSecond: Double
    /// The processor time of the program without its peers, in microseconds per unit.
    var processorMicroseconds: Double
    /// The user part of the processor time, which the kernel estimates by sampling.
    var userMicroseconds: Double
    /// The system part of the processor time. The sum of the user and the system part is exact.
    var systemMicroseconds: Double
    /// The processor time of each peer, in microseconds per unit.
    var peerMicroseconds: [Peer: Double]
    /// The peak resident memory of the program since its start; with several processes, the sum of their peaks.
    var peakMegabytes: Double
    /// The latency of a unit; nil if the program reports no latencies.
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
