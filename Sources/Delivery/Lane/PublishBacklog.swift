import EventLoop

/// The publishes of a lane that are repeated without success, and the deliveries that are not begun meanwhile.
struct PublishBacklog {
    static let logIntervalSeconds = 60

    private(set) var count = 0
    private var since: MonotonicTime?
    private var loggedAt: MonotonicTime?
    private var held: [UnsafeContinuation<Void, Never>] = []

    mutating func begin(_ now: MonotonicTime) {
        count += 1
        since = since ?? now
    }

    /// Whether a line in the log is due: at once, then one a minute.
    mutating func isLogDue(_ now: MonotonicTime) -> Bool {
        if let loggedAt, loggedAt.duration(to: now) < .seconds(Self.logIntervalSeconds) { return false }
        loggedAt = now
        return true
    }

    /// A publish has succeeded, or was given up. Returns how long all took when it was the last.
    mutating func end(_ now: MonotonicTime) -> Duration? {
        count -= 1
        guard count == 0, let since else { return nil }
        (self.since, loggedAt) = (nil, nil)
        resumeHeld()
        return since.duration(to: now)
    }

    mutating func hold(_ continuation: UnsafeContinuation<Void, Never>) {
        held.append(continuation)
    }

    /// They look again whether they may begin.
    mutating func resumeHeld() {
        let resumed = held
        held = []
        for continuation in resumed { continuation.resume() }
    }
}
