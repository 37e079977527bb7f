import EventLoop

/// Notices a loop that has stopped turning: something in it blocks or spins.
///
/// A loop without work sleeps and does not turn either, so it is given work, a ping, and must turn for that.
struct StallDetector {
    enum Action: Equatable {
        case none
        case ping
        /// The loop has not turned since it was pinged so long ago. Told once.
        case stalled(Duration)
        /// It turns again, after so long. To be pinged as well.
        case recovered(Duration)
    }

    /// How long a turn may take. No turn of a healthy lane takes a hundredth of it.
    static let turnSecondsMax = 10
    /// How often `check` is to be called.
    static let checkIntervalSeconds = 2

    private var turns: UInt64?
    private var pinged: MonotonicTime?
    private(set) var isStalled = false

    mutating func check(turns: UInt64, now: MonotonicTime) -> Action {
        guard let pinged, turns == self.turns else {
            let action = isStalled ? pinged.map { Action.recovered($0.duration(to: now)) } : nil
            self.turns = turns
            self.pinged = now
            isStalled = false
            return action ?? .ping
        }
        let silence = pinged.duration(to: now)
        guard !isStalled, silence >= .seconds(Self.turnSecondsMax) else { return .none }
        isStalled = true
        return .stalled(silence)
    }
}
