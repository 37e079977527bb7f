import EventLoop

/// One run: a seed decides messages, times, pieces, delays, disturbances and all else.
struct Simulation {
    static let messagesUsual = 300
    /// Virtual time within which all must have been told.
    static let limit = Duration.seconds(6 * 3600)

    let seed: UInt64
    var messages = Self.messagesUsual

    func run() throws -> SimulationReport {
        try SimulatedWorld(self).run()
    }
}
