import APNS
import APNSProtocol
import Crypto
import EventLoop

/// The breakers of a lane: one for each endpoint, one for each pool, which is a credential at an endpoint, and one for
/// each topic that was refused. What belongs to none that is open goes on.
///
/// Pure: it is told the time and what became of pushes, and says which may be sent.
struct Breakers {
    enum Place: Sendable, Hashable {
        case endpoint(Int)
        case credential(pool: Int)
        case topic(Route)
    }

    enum Change: Sendable, Hashable {
        case opened(Place, BreakerCause)
        case probing(Place)
        case closed(Place, Breaker.Opening)
    }

    /// A push that was admitted.
    struct Pass: Sendable, Hashable {
        var route: Route
        var begunAt: MonotonicTime
        var isProbe = false
        /// To be sent as the first push of a new connection: one that began with other topics refuses a new one for ever.
        var needsFreshConnection = false
    }

    enum Admission: Sendable, Hashable {
        case go(Pass)
        case hold(BreakerCause)
    }

    /// What follows for the message.
    enum Consequence: Sendable, Hashable {
        /// Its outcome is its own.
        case judge
        /// Send it again.
        case sendAgain(Pass)
        /// It has a part in what an open breaker holds up.
        case hold(BreakerCause)
    }

    /// By pool.
    private let endpointOfPool: [Int]
    private var endpoints: [Breaker]
    private var evidence: [EndpointEvidence]
    private var credentials: [Breaker]
    /// What an operator holds up.
    private(set) var pauses: [Place] = []
    /// Those that are open; few, so they are searched one by one.
    private var topics: [(route: Route, breaker: Breaker)] = []
    private var openCount = 0
    private var evidenceCount = 0
    /// What has happened since it was last emptied, for the log.
    var changes: [Change] = []

    /// - Parameter endpointOfPool: by pool, counted from 0.
    init(endpointOfPool: [Int]) {
        self.endpointOfPool = endpointOfPool
        let count = (endpointOfPool.max() ?? -1) + 1
        endpoints = Array(repeating: Breaker(), count: count)
        evidence = Array(repeating: EndpointEvidence(), count: count)
        credentials = Array(repeating: Breaker(), count: endpointOfPool.count)
    }

    /// And nothing is paused.
    var areAllClosed: Bool { openCount == 0 && pauses.isEmpty }

    /// Whether a breaker on the route is open, or it is paused.
    func isHeld(_ route: Route) -> Bool {
        !areAllClosed && places(of: route).contains { self[$0].opening != nil || pauses.contains($0) }
    }

    /// All that are open, with what for.
    var openings: [(place: Place, opening: Breaker.Opening)] {
        let places = endpoints.indices.map { Place.endpoint($0) } + credentials.indices.map { .credential(pool: $0) }
        return (places + topics.map { .topic($0.route) }).compactMap { place in
            self[place].opening.map { (place, $0) }
        }
    }

    /// Holds what belongs to the place, or no longer.
    mutating func pause(_ place: Place, _ isPaused: Bool = true) {
        guard pauses.contains(place) != isPaused else { return }
        if isPaused { pauses.append(place) } else { pauses.removeAll { $0 == place } }
    }

    var endpointCount: Int { endpoints.count }

    func endpoint(ofPool pool: Int) -> Int { endpointOfPool[pool] }

    func opening(at place: Place) -> Breaker.Opening? { self[place].opening }

    mutating func admit(_ route: Route, _ now: MonotonicTime) -> Admission {
        var pass = Pass(route: route, begunAt: now)
        if areAllClosed { return .go(pass) }
        for place in places(of: route) {
            if pauses.contains(place) { return .hold(.paused) }
            switch self[place].admission(now) {
            case .go: break
            case .probe: pass.isProbe = true
            case .hold(let cause): return .hold(cause)
            }
        }
        if pass.isProbe { beginProbe(&pass) }
        return .go(pass)
    }

    private mutating func beginProbe(_ pass: inout Pass) {
        for place in places(of: pass.route) where self[place].opening != nil {
            self[place].probeBegan()
            changes.append(.probing(place))
            if case .topic = place { pass.needsFreshConnection = true }
        }
    }

    /// Learns from what became of a push that was admitted.
    ///
    /// - Parameter random: draws the wait before the next probe.
    mutating func record(
        _ outcome: PushOutcome, of message: UUIDValue, _ pass: Pass, _ now: MonotonicTime,
        random: @autoclosure () -> UInt64
    ) -> Consequence {
        if areAllClosed, evidenceCount == 0, case .answered(let answer) = outcome, answer.status == 200 {
            return .judge
        }
        var findings = RouteFindings(outcome)
        if pass.isProbe, outcome.hasNoAnswer { blameUnanswered(&findings, pass.route) }
        let endpoint = endpointOfPool[pass.route.pool]
        var cause = outcome == .notSent(.noConnection) ? noConnectionCause(pass.route.pool) : nil
        let endpointFinding = weigh(findings.endpoint, endpoint, message, pass, findings.connection)
        learn(endpointFinding, at: .endpoint(endpoint), pass, now, random, &cause)
        learn(findings.credential, at: .credential(pool: pass.route.pool), pass, now, random, &cause)
        let wasTopicHeld = self[.topic(pass.route)].opening != nil
        learn(findings.topic, at: .topic(pass.route), pass, now, random, &cause)
        if case .bad = findings.topic, !wasTopicHeld, !pass.needsFreshConnection {
            var again = Pass(route: pass.route, begunAt: now, isProbe: true)
            beginProbe(&again)
            return .sendAgain(again)
        }
        // What may have been sent counts as a try.
        if case .unknown = outcome { return .judge }
        return cause.map { .hold($0) } ?? .judge
    }

    /// A probe without an answer shows that connections still end, or stay silent.
    private func blameUnanswered(_ findings: inout RouteFindings, _ route: Route) {
        func finding(_ place: Place) -> RouteFindings.Finding? {
            guard let cause = self[place].opening?.cause, cause.code == BreakerCause.unansweredCode else { return nil }
            return .bad(cause)
        }
        findings.endpoint = finding(.endpoint(endpointOfPool[route.pool])) ?? findings.endpoint
        findings.credential = finding(.credential(pool: route.pool)) ?? findings.credential
    }

    /// One bad answer says little of an endpoint: until there is evidence, it is a matter of its message.
    private mutating func weigh(
        _ finding: RouteFindings.Finding, _ endpoint: Int, _ message: UUIDValue, _ pass: Pass, _ connection: Int
    ) -> RouteFindings.Finding {
        switch finding {
        case .nothing:
            return finding
        case .good:
            if endpoints[endpoint].opening == nil || pass.isProbe { clearEvidence(endpoint) }
            return finding
        case .bad:
            if evidence[endpoint].isEmpty { evidenceCount += 1 }
            // Connections are numbered by their pools.
            let suffices = evidence[endpoint].add(message, connection: pass.route.pool << 32 | connection)
            return suffices || endpoints[endpoint].opening != nil ? finding : .nothing
        }
    }

    private mutating func clearEvidence(_ endpoint: Int) {
        guard !evidence[endpoint].isEmpty else { return }
        evidence[endpoint].clear()
        evidenceCount -= 1
    }

    private mutating func learn(
        _ finding: RouteFindings.Finding, at place: Place, _ pass: Pass, _ now: MonotonicTime, _ random: () -> UInt64,
        _ cause: inout BreakerCause?
    ) {
        let opening = self[place].opening
        switch finding {
        case .good:
            // What was sent before says nothing of the time since.
            guard let opening, pass.begunAt >= opening.since else { return }
            if pass.isProbe || pass.begunAt > opening.since { close(place) }
        case .bad(let found):
            cause = cause ?? found
            if opening != nil, pass.isProbe {
                self[place].probeFailed(now, secondsMax: place.probeSecondsMax(found), random: random())
            } else {
                open(place, found, .byMessage, now)
            }
        case .nothing:
            if opening != nil, pass.isProbe { self[place].probeEndedUndecided() }
        }
    }

    /// No connection can be opened, to the endpoint or with this credential alone; it is probed by trying to.
    mutating func cannotConnect(_ pool: Int, isAlone: Bool, _ cause: BreakerCause, _ now: MonotonicTime) {
        // Who was refused once would be again, though a connection stands.
        guard !isAlone || credentials[pool].opening?.probing != .byMessage else { return }
        open(isAlone ? .credential(pool: pool) : .endpoint(endpointOfPool[pool]), cause, .byConnecting, now)
    }

    /// Several connections in a row ended before any push was answered. That is blamed on the credential, and on the
    /// endpoint once every credential there is blamed. Connecting succeeds, so requests probe it.
    mutating func endedUnanswered(_ pool: Int, _ cause: BreakerCause, _ now: MonotonicTime) {
        let endpoint = endpointOfPool[pool]
        let isAlone = endpointOfPool.indices.contains {
            $0 != pool && endpointOfPool[$0] == endpoint
                && credentials[$0].opening?.cause.code != BreakerCause.unansweredCode
        }
        let place = isAlone ? Place.credential(pool: pool) : .endpoint(endpoint)
        if self[place].opening == nil { open(place, cause, .byMessage, now) }
    }

    /// A connection stands.
    mutating func connected(_ pool: Int) {
        closeConnecting(.endpoint(endpointOfPool[pool]))
        closeConnecting(.credential(pool: pool))
    }

    private mutating func closeConnecting(_ place: Place) {
        if self[place].opening?.probing == .byConnecting { close(place) }
    }

    /// The endpoint is there, and refused the credential before any push was looked at.
    mutating func refused(_ pool: Int, _ cause: BreakerCause, _ now: MonotonicTime) {
        closeConnecting(.endpoint(endpointOfPool[pool]))
        let place = Place.credential(pool: pool)
        if self[place].opening?.probing == .byConnecting { changes.append(.opened(place, cause)) }
        open(place, cause, .byMessage, now)
    }

    /// Whether it is to connect without a push.
    func awaitsConnection(_ pool: Int) -> Bool {
        endpoints[endpointOfPool[pool]].opening != nil || credentials[pool].opening?.probing == .byConnecting
    }

    private func noConnectionCause(_ pool: Int) -> BreakerCause? {
        (endpoints[endpointOfPool[pool]].opening ?? credentials[pool].opening)?.cause
    }

    private mutating func open(
        _ place: Place, _ cause: BreakerCause, _ probing: Breaker.Probing, _ now: MonotonicTime
    ) {
        if case .topic(let route) = place, self[place].opening == nil { topics.append((route, Breaker())) }
        guard self[place].open(cause, probing, now) else { return }
        openCount += 1
        changes.append(.opened(place, cause))
    }

    private mutating func close(_ place: Place) {
        guard let opening = self[place].close() else { return }
        openCount -= 1
        changes.append(.closed(place, opening))
        switch place {
        case .endpoint(let endpoint): clearEvidence(endpoint)
        case .credential: break
        case .topic(let route): topics.removeAll { $0.route == route }
        }
    }

    private func places(of route: Route) -> [Place] {
        [.endpoint(endpointOfPool[route.pool]), .credential(pool: route.pool), .topic(route)]
    }

    private subscript(place: Place) -> Breaker {
        get {
            switch place {
            case .endpoint(let index): endpoints[index]
            case .credential(let pool): credentials[pool]
            case .topic(let route): topics.first { $0.route == route }?.breaker ?? Breaker()
            }
        }
        set {
            switch place {
            case .endpoint(let index): endpoints[index] = newValue
            case .credential(let pool): credentials[pool] = newValue
            case .topic(let route):
                guard let index = topics.firstIndex(where: { $0.route == route }) else { return }
                topics[index].breaker = newValue
            }
        }
    }
}

extension PushOutcome {
    /// Whether the push was sent, or should have been, and no answer came.
    fileprivate var hasNoAnswer: Bool {
        switch self {
        case .unknown, .notSent(.noConnection), .notSent(.notWritten), .notSent(.refused): true
        case .answered, .notSent: false
        }
    }
}

extension Breakers.Place {
    fileprivate func probeSecondsMax(_ cause: BreakerCause) -> Int64 {
        switch self {
        case .endpoint where cause.code != BreakerCause.unansweredCode: Breaker.answeredProbeSecondsMax
        case .endpoint, .credential, .topic: Breaker.probeSecondsMax
        }
    }
}
