import EventLoop

/// What a pool's decisions go by of one connection.
struct PoolMember: Sendable {
    enum Change: Sendable, Hashable {
        case none
        case provedItself
    }

    /// Counted from 1 within the pool.
    let number: Int
    let begunAt: MonotonicTime
    private(set) var gate: StreamGate
    /// Opened for one push, and not yet for others.
    var isReserved: Bool
    /// The pool wanted all connections of its time replaced.
    var isRetired = false
    /// APNs' SETTINGS came once.
    private(set) var hasConnected = false
    /// APNs has taken our provider token or certificate on it.
    private(set) var isAuthenticated = false
    /// An answer has come on it.
    private(set) var isAnswered = false
    /// It ended while a push was in flight.
    private var wasCutOff = false
    /// The pool has left it, not its peer.
    private(set) var wasLeft = false
    /// Since when a push has waited for the answer that would open the gate.
    private(set) var unansweredSince: MonotonicTime?

    init(number: Int, begunAt: MonotonicTime, streamsMax: Int, provesItself: Bool, isReserved: Bool) {
        self.number = number
        self.begunAt = begunAt
        self.isReserved = isReserved
        gate = StreamGate(streamsMax: streamsMax, provesToken: provesItself)
    }

    mutating func streamBegan(_ now: MonotonicTime) {
        gate.streamBegan()
        if gate.phase == .probing, unansweredSince == nil { unansweredSince = now }
    }

    /// Whether it ended with a push in flight although no push on it was ever answered. An idle connection may end.
    var endedUnanswered: Bool { wasCutOff && !isAnswered && !wasLeft }

    /// Whether no push is in flight on it, or was when it ended.
    var isIdle: Bool { gate.inFlight == 0 && !wasCutOff }

    mutating func streamEnded(_ end: StreamGate.End, _ now: MonotonicTime) -> Change {
        gate.streamEnded(end)
        switch end {
        case .authenticated, .answered:
            isAnswered = true
        case .cutOff:
            wasCutOff = true
            gate.cutOff()
        case .refused, .other:
            break
        }
        switch gate.phase {
        case .open:
            unansweredSince = nil
            guard !isAuthenticated, end == .authenticated else { return .none }
            isAuthenticated = true
            return .provedItself
        case .probing:
            unansweredSince = gate.inFlight > 0 ? now : nil
        case .connecting, .draining, .closed:
            break
        }
        return .none
    }

    /// Whether it stands now, and did not before.
    mutating func settingsCame(streamsMax: Int?) -> Bool {
        gate.settingsReceived(streamsMax: streamsMax)
        defer { hasConnected = true }
        return !hasConnected
    }

    mutating func goAwayCame() {
        gate.drain()
    }

    mutating func leave() {
        wasLeft = true
        gate.drain()
    }
}
