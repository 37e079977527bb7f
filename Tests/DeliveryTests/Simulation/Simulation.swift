import EventLoop

/// One run: a seed decides messages, times, pieces, delays, disturbances and all else.
struct Simulation {
    static let messageCount = 300
    /// Virtual time within which all must have been told.
    static let limit = Duration.seconds(6 * 3600)

    let seed: UInt64

    func run() throws -> SimulationReport {
        try SimulatedWorld(seed: seed).run()
    }
}
