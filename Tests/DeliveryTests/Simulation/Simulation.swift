import EventLoop

/// One run. The seed determines all random choices, such as messages, times, fragments, delays and disturbances.
struct Simulation {
    static let messagesUsual = 300
    /// The maximum virtual time of a run.
    static let limit = Duration.seconds(6 * 3600)

    let seed: UInt64
    /// The number of requests to single devices. A run with registrations has a sixth as many.
    var messages = Self.messagesUsual

    func run() throws -> SimulationReport {
        try SimulatedWorld(self).run()
    }
}
