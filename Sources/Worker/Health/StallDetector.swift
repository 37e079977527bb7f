import EventLoop

/// Detects an event loop that makes no progress because its code blocks or spins. Pure.
///
/// An idle loop sleeps and makes no progress either. So the watchdog posts an empty job, a ping, which forces an
/// iteration.
struct StallDetector {
    enum Action: Equatable {
        case none
        case ping
        /// The loop has made no progress since the ping, for this long. Returned once per stall.
        case stalled(Duration)
        /// The loop makes progress again, after this long. Send a ping as well.
        case recovered(Duration)
    }

    /// Maximum duration of one event-loop iteration. A healthy lane needs less than a hundredth of it.
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
