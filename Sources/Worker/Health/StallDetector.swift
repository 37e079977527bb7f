import EventLoop

/// A detector of a stall: an event loop makes no progress because its code blocks or spins.
///
/// An idle loop sleeps and makes no progress either. The watchdog therefore posts an empty job, a ping, which forces
/// an iteration.
struct StallDetector {
    enum Action: Equatable {
        case none
        case ping
        /// A stall, with the time since the ping. Returned once for each stall.
        case stalled(Duration)
        /// The end of a stall, with the time since the ping. The watchdog also posts a new ping.
        case recovered(Duration)
    }

    /// Maximum duration of one event-loop iteration.
    static let iterationSecondsMax = 10
    /// Interval between calls of `check`.
    static let checkIntervalSeconds = 2

    private var iterations: UInt64?
    private var pinged: MonotonicTime?
    private(set) var isStalled = false

    mutating func check(iterations: UInt64, now: MonotonicTime) -> Action {
        guard let pinged, iterations == self.iterations else {
            let action = isStalled ? pinged.map { Action.recovered($0.duration(to: now)) } : nil
            self.iterations = iterations
            self.pinged = now
            isStalled = false
            return action ?? .ping
        }
        let silence = pinged.duration(to: now)
        guard !isStalled, silence >= .seconds(Self.iterationSecondsMax) else { return .none }
        isStalled = true
        return .stalled(silence)
    }
}
