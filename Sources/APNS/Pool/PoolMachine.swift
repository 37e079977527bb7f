import EventLoop

/// What a pool decides: which connection takes a push, when one is opened or left, and what is said of those that fail.
///
/// Pure: it is told the time and what happened, keeps what it has to know of each connection in a slot, and says what
/// to do; the pool does it.
struct PoolMachine: Sendable {
    struct Limits: Sendable {
        var connectionsMax: Int
        var streamsMax: Int
        /// Whether each connection has to have a provider token taken first.
        var provesToken = true
        var probeAnswerSecondsMax: Int64
        var shrinkSeconds: ClosedRange<Int64> = 300...600
    }

    /// What asks for a connection.
    struct Demand: Sendable {
        /// Pushes wait that take any stream.
        var hasShared = false
        /// Most streams are in use.
        var isHigh = false
        /// Pushes wait for a connection of their own.
        var hasFresh = false
    }

    /// What there is to do about connections that the load does not need.
    enum Shrinking: Sendable, Hashable {
        case leave(slot: Int)
        /// Ask again at this time.
        case later(MonotonicTime)
        /// There are none.
        case none
    }

    enum Opening: Sendable, Hashable {
        /// Open a connection, which has this slot from now on.
        case open(slot: Int)
        /// Leave this connection, then ask again: there are more than may be, and none was opened for the one that waits.
        case leave(slot: Int)
        /// Ask again at this time.
        case later(MonotonicTime)
        /// Nothing to do until something happens.
        case none
    }

    private static let growthInterval = Duration.milliseconds(100)

    private let limits: Limits
    private var reconnect: ReconnectPolicy
    private var members: [PoolMember?] = []
    /// The slot of the connection that had the last push, and when; all that leaves in a turn has one time.
    private var latest: (slot: Int, at: MonotonicTime)?
    /// Connections begun; the number of the last.
    private(set) var begun = 0
    private var isAccepting = true
    private var isProbing = false
    /// When the load last needed all connections, as far as anybody had to know.
    private var lastNeeded = MonotonicTime(nanoseconds: .min)
    /// Not before is asked for another one.
    private var nextGrowth = MonotonicTime(nanoseconds: .min)
    /// Drawn for the connection that is to be left next.
    private var shrinkWait: Duration?
    /// Attempts that failed since one succeeded, and when the first of them began.
    private var failures = 0
    private var failingSince: MonotonicTime?
    /// Connections since the last answer that ended with a push in flight and had answered none.
    private var unansweredEnds = 0

    init(_ limits: Limits, _ reconnect: ReconnectPolicy.Configuration) {
        self.limits = limits
        self.reconnect = ReconnectPolicy(reconnect)
    }

    /// Requests without an answer.
    var streamCount: Int { members.reduce(0) { $0 + ($1?.gate.inFlight ?? 0) } }

    subscript(slot: Int) -> PoolMember? { members[slot] }

    /// The connection for a push of this priority; nil when none has a stream free for it.
    func choose(priority: UInt8 = 0, _ now: MonotonicTime) -> Int? {
        var choice = ConnectionChoice(isUrgent: priority == 0, latest: latest?.at == now ? latest?.slot : nil)
        for slot in members.indices {
            if let member = members[slot], !member.isReserved { choice.consider(index: slot, member.gate) }
        }
        return choice.index
    }

    /// Returns whether to ask for another connection: pushes go to the one with the fewest streams, so that where it has
    /// many, all have nearly as many.
    @discardableResult mutating func streamBegan(_ slot: Int, _ now: MonotonicTime) -> Bool {
        latest = (slot, now)
        members[slot]?.streamBegan(now)
        guard let use = members[slot]?.gate.use, use != .light else { return false }
        lastNeeded = now
        guard use == .heavy, now >= nextGrowth else { return false }
        nextGrowth = now + Self.growthInterval
        return true
    }

    /// Whether to leave a connection; asked when one stands, and again when it says so.
    ///
    /// - Parameter random: draws the wait.
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
        guard lastNeeded + wait <= now, let slot = leaving(of: serving) else {
            return .later(max(now, lastNeeded + wait))
        }
        shrinkWait = nil
        return .leave(slot: slot)
    }

    private func drawShrinkWait(_ random: () -> UInt64) -> Duration {
        let (least, most) = (limits.shrinkSeconds.lowerBound * 1000, limits.shrinkSeconds.upperBound * 1000)
        return .milliseconds(least + Int64(random() % UInt64(most - least + 1)))
    }

    /// The oldest, which knows least of what the team has now, but not the last that is open.
    private func leaving(of serving: [Int]) -> Int? {
        let open = serving.filter { members[$0]?.gate.phase == .open }
        return serving.filter { open != [$0] }.min { (members[$0]?.number ?? 0) < (members[$1]?.number ?? 0) }
    }

    mutating func streamEnded(_ slot: Int, _ end: StreamGate.End, _ now: MonotonicTime) {
        if end == .authenticated || end == .answered { unansweredEnds = 0 }
        if members[slot]?.streamEnded(end, now) == .provedItself { reconnect.succeeded() }
    }

    /// Whether to open a connection now; asked whenever something has changed.
    mutating func nextOpening(_ demand: Demand, _ now: MonotonicTime) -> Opening {
        switch need(demand, now) {
        case .none:
            return .none
        case .at(let time):
            return .later(time)
        case .room:
            return leastBusy.map { .leave(slot: $0) } ?? .none
        case .connection(let isReserved):
            let time = reconnect.nextConnect(now)
            guard time <= now else { return .later(time) }
            reconnect.connectBegan(now)
            begun += 1
            return .open(
                slot: add(
                    PoolMember(
                        number: begun, begunAt: now, streamsMax: limits.streamsMax, provesItself: provesConnections,
                        isReserved: isReserved)))
        }
    }

    /// Whether a new connection gets one push until that is answered: with a key always, with a certificate while
    /// connections end unanswered, since each of their pushes may have been processed.
    private var provesConnections: Bool {
        limits.provesToken || unansweredEnds > 0 || members.contains { $0?.endedUnanswered == true }
    }

    private enum Need {
        case none
        case at(MonotonicTime)
        case room
        case connection(isReserved: Bool)
    }

    private func need(_ demand: Demand, _ now: MonotonicTime) -> Need {
        guard isAccepting, demand.hasShared || demand.hasFresh || demand.isHigh || isProbing else { return .none }
        // One is ending: the wait before the next is known once it has.
        if members.contains(where: { $0?.gate.phase == .closed }) { return .none }
        var serving = 0
        var hasReserved = false
        // One that takes pushes soon makes another needless.
        var isOneComing = false
        var isOneStanding = false
        var isOneStalled = false
        var stallsAt: MonotonicTime?
        for case let member? in members where member.gate.isServing {
            serving += 1
            if member.isReserved {
                hasReserved = true
                continue
            }
            isOneStanding = isOneStanding || member.hasConnected
            guard member.gate.phase != .open else { continue }
            guard let since = member.unansweredSince else {
                isOneComing = true
                continue
            }
            let time = since + .seconds(limits.probeAnswerSecondsMax)
            if time <= now { isOneStalled = true } else { stallsAt = max(stallsAt ?? time, time) }
        }
        let connectionsMax = max(1, limits.connectionsMax)
        // Connects have a limit a minute: what many may go by comes first.
        let isSharedServed = serving > 0 || !demand.hasShared
        // One more than may be: of a push that wanted its own and was given up, or beside one that had stalled.
        if demand.hasFresh, !hasReserved, isSharedServed {
            return serving <= connectionsMax ? .connection(isReserved: true) : .room
        }
        guard !isOneComing else { return .none }
        if demand.hasShared || demand.isHigh {
            if let stallsAt { return serving <= connectionsMax ? .at(stallsAt) : .none }
            let isOneMore = isOneStalled || hasReserved
            return serving < connectionsMax + (isOneMore ? 1 : 0) ? .connection(isReserved: false) : .none
        }
        return isProbing && !isOneStanding && serving <= connectionsMax ? .connection(isReserved: false) : .none
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

    /// Whether a connection stands that takes pushes.
    var isConnected: Bool { members.contains { $0?.gate.isServing == true && $0?.hasConnected == true } }

    /// Whether a connection takes pushes on which APNs has taken the token or the certificate.
    var isAuthenticated: Bool { members.contains { $0?.gate.isServing == true && $0?.isAuthenticated == true } }

    /// Whether the connection stands now, and did not before.
    mutating func settingsCame(_ slot: Int, streamsMax: Int?) -> Bool {
        guard members[slot]?.settingsCame(streamsMax: streamsMax) == true else { return false }
        failures = 0
        failingSince = nil
        isProbing = false
        return true
    }

    /// The peer takes no more streams.
    mutating func goAwayCame(_ slot: Int) -> PoolEvent? {
        guard let member = members[slot] else { return nil }
        members[slot]?.goAwayCame()
        return loss(with: member)
    }

    /// nil unless the connection was the last that stood and took pushes.
    private func loss(with member: PoolMember) -> PoolEvent? {
        guard isAccepting, member.hasConnected, member.gate.phase != .draining, !isConnected else { return nil }
        return .lost(isIdle: member.isIdle)
    }

    /// The pool gives the connection nothing more to do.
    mutating func leave(_ slot: Int) {
        members[slot]?.leave()
    }

    /// The slot is free again.
    mutating func closed(
        _ slot: Int, _ error: TransportError, _ now: MonotonicTime, random: () -> UInt64
    ) -> PoolEvent? {
        guard let member = members[slot] else { return nil }
        members[slot] = nil
        if !member.isAuthenticated, !member.isRetired {
            reconnect.failed(now, begunAt: member.begunAt, random: random())
        }
        guard isAccepting, !member.wasLeft else { return nil }
        if member.endedUnanswered, error.code != .certificateRefused {
            unansweredEnds += 1
            return .endedUnanswered(error, connections: unansweredEnds)
        }
        guard !member.hasConnected else { return loss(with: member) }
        guard error.code != .certificateRefused else {
            // Who refuses is there.
            (failures, failingSince) = (0, nil)
            return nil
        }
        failures += 1
        let since = failingSince ?? member.begunAt
        failingSince = since
        return isConnected ? nil : .cannotConnect(error, failures: failures, since: since)
    }

    /// A push that was the first on a connection of its own has its outcome; says which connections to leave: those
    /// before it when it was accepted, which are bound to what was allowed then, else the one that was opened for it.
    mutating func freshEnded(_ slot: Int, isAccepted: Bool) -> [Int] {
        guard let member = members[slot] else { return [] }
        guard isAccepted else { return [slot] }
        members[slot]?.isReserved = false
        return members.indices.filter { index in
            members[index].map { $0.number < member.number && $0.gate.isServing && !$0.isReserved } ?? false
        }
    }

    /// Nobody wants it for himself any more.
    mutating func release(_ slot: Int) {
        members[slot]?.isReserved = false
    }

    /// Connect without a push; true when a connection stands already.
    mutating func probe() -> Bool {
        guard !isConnected else { return true }
        isProbing = true
        return false
    }

    mutating func stopProbing() {
        isProbing = false
    }

    /// The connections to leave, all that there are; they count for no failure.
    mutating func retire() -> [Int] {
        let slots = members.indices.filter { members[$0]?.gate.isServing == true }
        for slot in slots { members[slot]?.isRetired = true }
        return slots
    }

    mutating func stopAccepting() {
        isAccepting = false
    }
}
