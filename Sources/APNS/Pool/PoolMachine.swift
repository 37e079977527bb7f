import EventLoop

/// The decisions of a pool. They select the connection for a push, open and drain connections, and report failed and
/// lost connections.
///
/// The machine is pure. The pool passes the time and the events, and carries out the decisions. Each connection has a
/// slot.
struct PoolMachine: Sendable {
    struct Limits: Sendable {
        var connectionsMax: Int
        var streamsMax: Int
        /// Whether APNs must accept a provider token on each connection before more than one stream is opened.
        var requiresTokenProof = true
        var probeAnswerSecondsMax: Int64
        var shrinkSeconds: ClosedRange<Int64> = 300...600
    }

    /// The reasons to open a connection.
    struct Demand: Sendable {
        /// Whether pushes that any connection may send are waiting.
        var hasShared = false
        /// Whether most streams are in use.
        var isHigh = false
        /// Whether pushes that require a new connection are waiting.
        var hasFresh = false
    }

    /// The next step to remove connections that the load does not need.
    enum Shrinking: Sendable, Hashable {
        case drain(slot: Int)
        /// The time of the next check.
        case later(MonotonicTime)
        /// No connection to remove.
        case none
    }

    /// The next step to serve a ``Demand``.
    enum Opening: Sendable, Hashable {
        /// A new connection in this slot.
        case open(slot: Int)
        /// A drain of this connection, then another check. The limit is exceeded, and a push requires a new
        /// connection.
        case drain(slot: Int)
        /// The time of the next check.
        case later(MonotonicTime)
        /// No action until the next event.
        case none
    }

    private static let growthInterval = Duration.milliseconds(100)

    private let limits: Limits
    private var reconnect: ReconnectPolicy
    private var members: [PoolMember?] = []
    /// The slot and time of the last push. All pushes of an event-loop iteration have the same time.
    private var latest: (slot: Int, at: MonotonicTime)?
    /// Number of connections opened so far, which is also the number of the last one.
    private(set) var begun = 0
    private var isAccepting = true
    private var isProbing = false
    /// The last time when the load needed all connections, or when ``shrinkWait`` was drawn.
    private var lastNeeded = MonotonicTime(nanoseconds: .min)
    /// The earliest time at which `streamBegan` may return true again.
    private var nextGrowth = MonotonicTime(nanoseconds: .min)
    /// Random delay before the next connection is drained; nil if no delay was drawn.
    private var shrinkWait: Duration?
    /// Number of failed attempts since the last success or refusal of the certificate, and the start of the first
    /// failed attempt.
    private var failures = 0
    private var failingSince: MonotonicTime?
    /// Number of connections that ended with a push in flight and no answered push, since the pool's last answer.
    private var unansweredEnds = 0

    init(_ limits: Limits, _ reconnect: ReconnectPolicy.Configuration) {
        self.limits = limits
        self.reconnect = ReconnectPolicy(reconnect)
    }

    /// Number of open requests on all connections.
    var streamCount: Int { members.reduce(0) { $0 + ($1?.gate.inFlight ?? 0) } }

    subscript(slot: Int) -> PoolMember? { members[slot] }

    /// Returns the slot of the connection for a push of this priority; nil if no connection has a free stream.
    /// Skips connections that are reserved for one push.
    func choose(priority: UInt8, _ now: MonotonicTime) -> Int? {
        var choice = ConnectionChoice(isUrgent: priority == 0, latest: latest?.at == now ? latest?.slot : nil)
        for slot in members.indices {
            if let member = members[slot], !member.isReserved { choice.consider(index: slot, member.gate) }
        }
        return choice.index
    }

    /// Records a sent push. Returns whether to check for another connection. Pushes usually go to the connection with
    /// the fewest open requests. A heavy load on that connection thus usually means a heavy load on all connections.
    @discardableResult mutating func streamBegan(_ slot: Int, _ now: MonotonicTime) -> Bool {
        latest = (slot, now)
        members[slot]?.streamBegan(now)
        guard let use = members[slot]?.gate.use, use != .light else { return false }
        lastNeeded = now
        guard use == .heavy, now >= nextGrowth else { return false }
        nextGrowth = now + Self.growthInterval
        return true
    }

    /// Returns the next step to remove connections that the load does not need.
    ///
    /// - Parameter random: selects the delay.
    mutating func nextShrinking(_ now: MonotonicTime, random: () -> UInt64) -> Shrinking {
        let serving = members.indices.filter {
            members[$0].map { $0.gate.isServing && !$0.isReserved } ?? false
        }
        guard serving.count > 1 else {
            shrinkWait = nil
            return .none
        }
        if shrinkWait == nil { lastNeeded = max(lastNeeded, now) }
        let wait = shrinkWait ?? drawShrinkWait(random)
        shrinkWait = wait
        guard lastNeeded + wait <= now, let slot = surplus(among: serving) else {
            return .later(max(now, lastNeeded + wait))
        }
        shrinkWait = nil
        return .drain(slot: slot)
    }

    private func drawShrinkWait(_ random: () -> UInt64) -> Duration {
        let (least, most) = (limits.shrinkSeconds.lowerBound * 1000, limits.shrinkSeconds.upperBound * 1000)
        return .milliseconds(least + Int64(random() % UInt64(most - least + 1)))
    }

    /// Returns the slot of the oldest connection; nil if there is none. Skips a connection that is the only one in
    /// phase `open`. The oldest connection is bound to the most outdated topics of the team.
    private func surplus(among serving: [Int]) -> Int? {
        let open = serving.filter { members[$0]?.gate.phase == .open }
        return serving.filter { open != [$0] }.min { (members[$0]?.number ?? 0) < (members[$1]?.number ?? 0) }
    }

    mutating func streamEnded(_ slot: Int, _ end: StreamGate.End, _ now: MonotonicTime) {
        if end == .authenticated || end == .answered { unansweredEnds = 0 }
        if members[slot]?.streamEnded(end, now) == .authenticated { reconnect.succeeded() }
    }

    /// Returns the next step to serve the demand. For `open`, also adds the connection and counts the connect.
    mutating func nextOpening(_ demand: Demand, _ now: MonotonicTime) -> Opening {
        switch need(demand, now) {
        case .none:
            return .none
        case .at(let time):
            return .later(time)
        case .room:
            return leastBusy.map { .drain(slot: $0) } ?? .none
        case .connection(let isReserved):
            let time = reconnect.nextConnect(now)
            guard time <= now else { return .later(time) }
            reconnect.connectBegan(now)
            begun += 1
            return .open(
                slot: add(
                    PoolMember(
                        number: begun, begunAt: now, streamsMax: limits.streamsMax, startsProbing: probesNewConnections,
                        isReserved: isReserved)))
        }
    }

    /// Whether a new connection is limited to one push until APNs has accepted the credential. True for a key. True for
    /// a certificate while connections end unanswered, since APNs may have processed each of their pushes.
    private var probesNewConnections: Bool {
        limits.requiresTokenProof || unansweredEnds > 0 || members.contains { $0?.endedUnanswered == true }
    }

    private enum Need {
        case none
        case at(MonotonicTime)
        case room
        case connection(isReserved: Bool)
    }

    private func need(_ demand: Demand, _ now: MonotonicTime) -> Need {
        guard isAccepting, demand.hasShared || demand.hasFresh || demand.isHigh || isProbing else { return .none }
        // The end of a closing connection determines the delay before the next connect, so wait for that end.
        if members.contains(where: { $0?.gate.phase == .closed }) { return .none }
        var serving = 0
        var hasReserved = false
        // A connection that will soon accept pushes makes another one unnecessary.
        var hasPending = false
        var hasStalled = false
        var stallsAt: MonotonicTime?
        for case let member? in members where member.gate.isServing {
            serving += 1
            if member.isReserved {
                hasReserved = true
                continue
            }
            guard member.gate.phase != .open else { continue }
            guard let since = member.unansweredSince else {
                hasPending = true
                continue
            }
            let time = since + .seconds(limits.probeAnswerSecondsMax)
            if time <= now { hasStalled = true } else { stallsAt = max(stallsAt ?? time, time) }
        }
        let connectionsMax = max(1, limits.connectionsMax)
        // Connects per minute are limited, so connections that many pushes can use take precedence.
        let isSharedServed = serving > 0 || !demand.hasShared
        // The count may exceed the limit by one. The extra connection was opened for a push that then timed out, or
        // while another connection had stalled.
        if demand.hasFresh, !hasReserved, isSharedServed {
            return serving <= connectionsMax ? .connection(isReserved: true) : .room
        }
        guard !hasPending else { return .none }
        if demand.hasShared || demand.isHigh {
            if let stallsAt { return serving <= connectionsMax ? .at(stallsAt) : .none }
            let allowsOneMore = hasStalled || hasReserved
            return serving < connectionsMax + (allowsOneMore ? 1 : 0) ? .connection(isReserved: false) : .none
        }
        // Probing ends when a connection is up.
        return isProbing && serving <= connectionsMax ? .connection(isReserved: false) : .none
    }

    private var leastBusy: Int? {
        members.indices.filter { members[$0]?.gate.isServing == true }
            .min { (members[$0]?.gate.inFlight ?? 0) < (members[$1]?.gate.inFlight ?? 0) }
    }

    private mutating func add(_ member: PoolMember) -> Int {
        if let slot = members.firstIndex(where: { $0 == nil }) {
            members[slot] = member
            return slot
        }
        members.append(member)
        return members.count - 1
    }

    /// Whether a connection is up and accepts pushes.
    var isConnected: Bool { members.contains { $0?.gate.isServing == true && $0?.hasConnected == true } }

    /// Whether APNs has accepted the token or the certificate on a connection that accepts pushes.
    var isAuthenticated: Bool { members.contains { $0?.gate.isServing == true && $0?.isAuthenticated == true } }

    /// Applies the peer's SETTINGS. Returns whether they are the connection's first. The first SETTINGS end probing and
    /// reset the count of failed attempts.
    mutating func settingsReceived(_ slot: Int, streamsMax: Int?) -> Bool {
        guard members[slot]?.settingsReceived(streamsMax: streamsMax) == true else { return false }
        failures = 0
        failingSince = nil
        isProbing = false
        return true
    }

    /// Stops new streams after a GOAWAY. Returns the event to report, if any.
    mutating func goAwayReceived(_ slot: Int) -> PoolEvent? {
        guard let member = members[slot] else { return nil }
        members[slot]?.goAwayReceived()
        return loss(with: member)
    }

    /// Returns the event to report. Returns nil unless the connection was the last one that was up and accepted pushes.
    /// Also returns nil if the pool has stopped accepting pushes.
    private func loss(with member: PoolMember) -> PoolEvent? {
        guard isAccepting, member.hasConnected, member.gate.phase != .draining, !isConnected else { return nil }
        return .lost(isIdle: member.isIdle)
    }

    /// Stops new streams on a connection that the pool drains.
    mutating func drain(_ slot: Int) {
        members[slot]?.drain()
    }

    /// Frees the slot of a closed connection. Returns the event to report, if any.
    mutating func closed(
        _ slot: Int, _ error: TransportError, _ now: MonotonicTime, random: () -> UInt64
    ) -> PoolEvent? {
        guard let member = members[slot] else { return nil }
        members[slot] = nil
        if !member.isAuthenticated, !member.isRetired {
            reconnect.failed(now, begunAt: member.begunAt, random: random())
        }
        guard isAccepting, !member.wasDrained else { return nil }
        if member.endedUnanswered, error.code != .certificateRefused {
            unansweredEnds += 1
            return .endedUnanswered(error, connections: unansweredEnds)
        }
        guard !member.hasConnected else { return loss(with: member) }
        guard error.code != .certificateRefused else {
            // A peer that refuses the certificate is reachable.
            (failures, failingSince) = (0, nil)
            return nil
        }
        failures += 1
        let since = failingSince ?? member.begunAt
        failingSince = since
        return isConnected ? nil : .cannotConnect(error, failures: failures, since: since)
    }

    /// Records the outcome of a push that required a new connection. Returns the slots of the connections to drain.
    ///
    /// If APNs accepted the push, the older connections are drained. Otherwise, the connection that was opened for the
    /// push is drained. APNs bound the older connections to the topics that were allowed at their first push.
    mutating func freshEnded(_ slot: Int, isAccepted: Bool) -> [Int] {
        guard let member = members[slot] else { return [] }
        guard isAccepted else { return [slot] }
        members[slot]?.isReserved = false
        return members.indices.filter { index in
            members[index].map { $0.number < member.number && $0.gate.isServing && !$0.isReserved } ?? false
        }
    }

    /// Allows a reserved connection to send any push.
    mutating func release(_ slot: Int) {
        members[slot]?.isReserved = false
    }

    /// Starts to connect without a push, unless a connection is up. Returns whether a connection was up already.
    mutating func probe() -> Bool {
        guard !isConnected else { return true }
        isProbing = true
        return false
    }

    mutating func stopProbing() {
        isProbing = false
    }

    /// Marks as retired all connections that accept pushes or are connecting. Returns their slots, for the pool to
    /// drain. The ends of these connections do not count as failures.
    mutating func retire() -> [Int] {
        let slots = members.indices.filter { members[$0]?.gate.isServing == true }
        for slot in slots { members[slot]?.isRetired = true }
        return slots
    }

    mutating func stopAccepting() {
        isAccepting = false
    }
}
