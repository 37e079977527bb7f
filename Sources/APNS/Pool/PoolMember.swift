import EventLoop

/// The state of one connection, as far as ``PoolMachine`` needs it for decisions.
struct PoolMember: Sendable {
    enum Change: Sendable, Hashable {
        case none
        case authenticated
    }

    /// Number of the connection within the pool, from 1.
    let number: Int
    let begunAt: MonotonicTime
    private(set) var gate: StreamGate
    /// Whether the connection was opened for one push and does not accept others yet.
    var isReserved: Bool
    /// Whether the pool replaces the connection because of ``APNSPool/retireConnections()``.
    var isRetired = false
    /// Whether APNs' SETTINGS have arrived.
    private(set) var hasConnected = false
    /// Whether APNs has accepted the provider token or the certificate on the connection. Answers that arrive while the
    /// connection drains do not count.
    private(set) var isAuthenticated = false
    /// Whether a push on the connection got an answer, from APNs or from a proxy.
    private(set) var isAnswered = false
    /// Whether a stream of the connection ended as ``StreamGate/End/cutOff``.
    private var wasCutOff = false
    /// Whether the pool drained the connection.
    private(set) var wasDrained = false
    /// The start of the wait for the answer that would open the gate; nil if no push waits for such an answer. The wait
    /// restarts with the end of each stream that does not open the gate.
    private(set) var unansweredSince: MonotonicTime?

    init(number: Int, begunAt: MonotonicTime, streamsMax: Int, startsProbing: Bool, isReserved: Bool) {
        self.number = number
        self.begunAt = begunAt
        self.isReserved = isReserved
        gate = StreamGate(streamsMax: streamsMax, startsProbing: startsProbing)
    }

    mutating func streamBegan(_ now: MonotonicTime) {
        gate.streamBegan()
        if gate.phase == .probing, unansweredSince == nil { unansweredSince = now }
    }

    /// Whether the connection ended with a push in flight and without an answered push, unless the pool drained the
    /// connection. The end of an idle connection is normal.
    var endedUnanswered: Bool { wasCutOff && !isAnswered && !wasDrained }

    /// Whether no push is in flight, and none was in flight when the connection ended.
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
            return .authenticated
        case .probing:
            unansweredSince = gate.inFlight > 0 ? now : nil
        case .connecting, .draining, .closed:
            break
        }
        return .none
    }

    /// Applies the peer's SETTINGS. Returns whether they are the connection's first.
    mutating func settingsReceived(streamsMax: Int?) -> Bool {
        gate.settingsReceived(streamsMax: streamsMax)
        defer { hasConnected = true }
        return !hasConnected
    }

    mutating func goAwayReceived() {
        gate.drain()
    }

    mutating func drain() {
        wasDrained = true
        gate.drain()
    }
}
