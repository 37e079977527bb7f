import EventLoop

/// The time in which a lane takes no messages because every route in use is held up.
struct Holding {
    /// Messages looked at for one that is let through, each time a probe is due.
    static let looksMax = 100
    /// At least so often one message is looked at: another route may have come into use.
    static let lookSecondsMax: Int64 = 60
    /// The pause after a look that found none to let through; doubles up to the largest.
    static let pauseSecondsMin: Int64 = 5

    /// nil: messages are taken.
    var since: MonotonicTime?
    var timer: TimerToken?
    private(set) var isLooking = false
    /// Whether a message was let through since the look began.
    var wasAdmitted = false
    /// Which queue is looked at next.
    var nextSource = 0
    private var pauseSeconds: Int64 = 0
    private var notBefore = MonotonicTime(nanoseconds: .min)

    /// - Parameter probeDue: when a breaker lets a message through.
    func nextLook(probeDue: MonotonicTime?, _ now: MonotonicTime) -> MonotonicTime {
        let latest = now + .seconds(Self.lookSecondsMax)
        return max(min(probeDue ?? latest, latest), notBefore)
    }

    mutating func lookBegan() {
        isLooking = true
        wasAdmitted = false
    }

    mutating func lookEnded(_ now: MonotonicTime) {
        isLooking = false
        pauseSeconds = wasAdmitted ? 0 : min(max(pauseSeconds * 2, Self.pauseSecondsMin), Self.lookSecondsMax)
        notBefore = now + .seconds(pauseSeconds)
    }
}
