/// What one sample of one program cost, by unit of its work: a message or a request.
struct Measurement: Sendable {
    /// Who else worked meanwhile.
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
    /// Of the program alone, in microseconds a unit.
    var processorMicroseconds: Double
    /// Its parts, which the kernel tells apart by ticks, though it counts all of it exactly.
    var userMicroseconds: Double
    var systemMicroseconds: Double
    var peerMicroseconds: [Peer: Double]
    /// From the start of the process to its end.
    var peakMegabytes: Double
    /// Of a unit, where the program tells.
    var latency: Percentiles?

    /// The median of each figure apart.
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
