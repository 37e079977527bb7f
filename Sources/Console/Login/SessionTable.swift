import ControlProtocol
import EventLoop

/// The sessions of logged-in operators, by the hashes of their secrets. It performs no I/O.
struct SessionTable: Sendable {
    /// The limits of sessions. A test may lower them.
    struct Limits: Sendable, Hashable {
        var idleSeconds = 1800
        var lifetimeSeconds = 12 * 3600
        /// Maximum number of sessions. A further session replaces the session that has been idle longest.
        var sessionsMax = 256
        /// Maximum number of sessions of one operator. A further session replaces the operator's session that has been
        /// idle longest.
        var sessionsPerNameMax = 32
        var requestsPerSecond = 20
    }

    struct Session: Sendable, Hashable {
        let hash: String
        var login: Operator
        let endsAt: MonotonicTime
        fileprivate var usedAt: MonotonicTime
        fileprivate var pace: RequestPace

        func secondsLeft(at now: MonotonicTime) -> Int { Int(now.duration(to: endsAt).components.seconds) }
    }

    /// The effect of a request with a session.
    enum Use: Sendable, Hashable {
        case session(Session)
        /// A session that does not exist or has ended.
        case unknown
        /// A session with too many requests.
        case tooFast
    }

    let limits: Limits
    private var sessions: [String: Session] = [:]

    init(_ limits: Limits = Limits()) { self.limits = limits }

    var count: Int { sessions.count }

    /// - Parameter secondsMax: the validity of the operator's proof; nil if it does not end.
    @discardableResult
    mutating func add(
        hash: String, _ login: Operator, secondsMax: Int? = nil, at now: MonotonicTime
    ) -> Session {
        sessions = sessions.filter { isValid($0.value, at: now) }
        let own = sessions.values.filter { $0.login.name == login.name }
        if own.count >= limits.sessionsPerNameMax {
            removeOldest(of: own)
        } else if sessions.count >= limits.sessionsMax {
            removeOldest(of: Array(sessions.values))
        }
        let seconds = min(limits.lifetimeSeconds, secondsMax ?? .max)
        let session = Session(
            hash: hash, login: login, endsAt: now + .seconds(seconds), usedAt: now,
            pace: RequestPace(perSecond: limits.requestsPerSecond, burst: limits.requestsPerSecond))
        sessions[hash] = session
        return session
    }

    private mutating func removeOldest(of candidates: [Session]) {
        if let oldest = candidates.min(by: { ($0.usedAt, $0.hash) < ($1.usedAt, $1.hash) }) {
            sessions[oldest.hash] = nil
        }
    }

    private func isValid(_ session: Session, at now: MonotonicTime) -> Bool {
        now < session.endsAt && now.isWithin(.seconds(limits.idleSeconds), of: session.usedAt)
    }

    /// Counts a request.
    ///
    /// - Parameter isWaiting: whether the request only waits for changes, which keeps no session alive.
    mutating func use(hash: String, isWaiting: Bool = false, at now: MonotonicTime) -> Use {
        guard var session = sessions[hash] else { return .unknown }
        guard isValid(session, at: now) else {
            sessions[hash] = nil
            return .unknown
        }
        let isAdmitted = session.pace.admits(at: now)
        if !isWaiting { session.usedAt = now }
        sessions[hash] = session
        return isAdmitted ? .session(session) : .tooFast
    }

    mutating func remove(hash: String) { sessions[hash] = nil }

    /// Whether any session is valid.
    func isInUse(at now: MonotonicTime) -> Bool { sessions.values.contains { isValid($0, at: now) } }
}
