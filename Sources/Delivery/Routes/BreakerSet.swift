import APNS
import APNSProtocol
import Crypto
import EventLoop

/// The breakers of a lane. Each endpoint, each pool, and each topic that APNs refused has a breaker. A pool is a
/// credential at an endpoint. An open breaker does not affect pushes of other routes.
///
/// Pure. Its methods have the time and the events as parameters.
struct BreakerSet {
    enum Change: Sendable, Hashable {
        case opened(BreakerScope, HoldReason)
        case probing(BreakerScope)
        case closed(BreakerScope, Breaker.Opening)
    }

    enum Admission: Sendable, Hashable {
        case go(AdmittedPush)
        case hold(HoldReason)
    }

    /// The consequence of a push's outcome for its request.
    enum Consequence: Sendable, Hashable {
        /// A verdict on the request, which `OutcomePolicy` reaches from the outcome.
        case judge
        /// A second send of the push, on a new connection.
        case sendAgain(AdmittedPush)
        /// A hold of the request, since the outcome concerns a route whose breaker is open.
        case hold(HoldReason)
    }

    private let endpointOfPool: [Int]
    private var endpoints: [Breaker]
    private var evidence: [EndpointEvidence]
    private var credentials: [Breaker]
    /// The scopes that an operator paused.
    private(set) var pauses: [BreakerScope] = []
    /// The open breakers of topics. Few breakers of topics are open, so a linear search suffices.
    private var topics: [(route: Route, breaker: Breaker)] = []
    private var openCount = 0
    private var evidenceCount = 0
    /// The changes since the last `takeChanges`.
    private(set) var changes: [Change] = []

    /// Creates the breakers, which are all closed.
    ///
    /// - Parameter endpointOfPool: The endpoint of each pool, counted from 0.
    init(endpointOfPool: [Int]) {
        self.endpointOfPool = endpointOfPool
        let count = (endpointOfPool.max() ?? -1) + 1
        endpoints = Array(repeating: Breaker(), count: count)
        evidence = Array(repeating: EndpointEvidence(), count: count)
        credentials = Array(repeating: Breaker(), count: endpointOfPool.count)
    }

    /// Whether no breaker is open and no scope is paused.
    var areAllClosed: Bool { openCount == 0 && pauses.isEmpty }

    /// Returns whether a breaker of the route is open, or a scope of the route is paused.
    func isHeld(_ route: Route) -> Bool {
        !areAllClosed && scopes(of: route).contains { self[$0].opening != nil || pauses.contains($0) }
    }

    /// Returns the reason for which a push of the route would be held now; nil if it would be sent.
    func holdReason(_ route: Route, _ now: MonotonicTime) -> HoldReason? {
        if areAllClosed { return nil }
        for scope in scopes(of: route) {
            if pauses.contains(scope) { return .paused }
            if case .hold(let cause) = self[scope].admission(now) { return cause }
        }
        return nil
    }

    var openings: [(scope: BreakerScope, opening: Breaker.Opening)] {
        let scopes =
            endpoints.indices.map { BreakerScope.endpoint($0) } + credentials.indices.map { .credential(pool: $0) }
        return (scopes + topics.map { .topic($0.route) }).compactMap { scope in
            self[scope].opening.map { (scope, $0) }
        }
    }

    mutating func pause(_ scope: BreakerScope, _ isPaused: Bool = true) {
        guard pauses.contains(scope) != isPaused else { return }
        if isPaused { pauses.append(scope) } else { pauses.removeAll { $0 == scope } }
    }

    /// Makes the next probe of an open breaker due. Does nothing while the breaker is closed or being probed.
    mutating func probeNow(_ scope: BreakerScope, _ now: MonotonicTime) { self[scope].probeNow(now) }

    var endpointCount: Int { endpoints.count }

    func endpoint(ofPool pool: Int) -> Int { endpointOfPool[pool] }

    mutating func takeChanges() -> [Change] {
        defer { changes = [] }
        return changes
    }

    func opening(at scope: BreakerScope) -> Breaker.Opening? { self[scope].opening }

    mutating func admit(_ route: Route, _ now: MonotonicTime) -> Admission {
        var push = AdmittedPush(route: route, begunAt: now)
        if areAllClosed { return .go(push) }
        for scope in scopes(of: route) {
            if pauses.contains(scope) { return .hold(.paused) }
            switch self[scope].admission(now) {
            case .go: break
            case .probe: push.isProbe = true
            case .hold(let cause): return .hold(cause)
            }
        }
        if push.isProbe { beginProbe(&push) }
        return .go(push)
    }

    private mutating func beginProbe(_ push: inout AdmittedPush) {
        for scope in scopes(of: push.route) where self[scope].opening != nil {
            self[scope].probeBegan()
            changes.append(.probing(scope))
            if case .topic = scope { push.needsFreshConnection = true }
        }
    }

    /// Records the outcome of an admitted push, and returns the consequence for the request.
    ///
    /// - Parameter random: A random number, which selects the wait before the next probe.
    mutating func record(
        _ outcome: PushOutcome, of message: UUIDValue, _ push: AdmittedPush, _ now: MonotonicTime,
        random: @autoclosure () -> UInt64
    ) -> Consequence {
        if areAllClosed, evidenceCount == 0, case .answered(let answer) = outcome, answer.status == 200 {
            return .judge
        }
        var findings = RouteAttribution(outcome)
        if push.isProbe, outcome.hasNoAnswer { blameUnanswered(&findings, push.route) }
        let endpoint = endpointOfPool[push.route.pool]
        var cause = outcome == .notSent(.noConnection) ? noConnectionCause(push.route.pool) : nil
        let endpointFinding = weigh(findings.endpoint, endpoint, message, push, findings.connection)
        learn(endpointFinding, at: .endpoint(endpoint), push, now, random, &cause)
        learn(findings.credential, at: .credential(pool: push.route.pool), push, now, random, &cause)
        let wasTopicHeld = self[.topic(push.route)].opening != nil
        learn(findings.topic, at: .topic(push.route), push, now, random, &cause)
        if case .bad = findings.topic, !wasTopicHeld, !push.needsFreshConnection {
            var again = AdmittedPush(route: push.route, begunAt: now, isProbe: true)
            beginProbe(&again)
            return .sendAgain(again)
        }
        // APNs may have processed the push, which counts as an attempt.
        if case .unknown = outcome { return .judge }
        return cause.map { .hold($0) } ?? .judge
    }

    /// Attributes an unanswered probe to the scopes whose breakers are open because of missing answers.
    private func blameUnanswered(_ findings: inout RouteAttribution, _ route: Route) {
        func finding(_ scope: BreakerScope) -> RouteAttribution.Finding? {
            guard let cause = self[scope].opening?.cause, cause.code == HoldReason.unansweredCode else { return nil }
            return .bad(cause)
        }
        findings.endpoint = finding(.endpoint(endpointOfPool[route.pool])) ?? findings.endpoint
        findings.credential = finding(.credential(pool: route.pool)) ?? findings.credential
    }

    /// Updates the evidence about an endpoint. Returns the finding, or `nothing` while the breaker is closed and the
    /// evidence of a failure is insufficient. One bad answer may concern only its request.
    private mutating func weigh(
        _ finding: RouteAttribution.Finding, _ endpoint: Int, _ message: UUIDValue, _ push: AdmittedPush,
        _ connection: Int
    ) -> RouteAttribution.Finding {
        switch finding {
        case .nothing:
            return finding
        case .good:
            if endpoints[endpoint].opening == nil || push.isProbe { clearEvidence(endpoint) }
            return finding
        case .bad:
            if evidence[endpoint].isEmpty { evidenceCount += 1 }
            // Connection numbers are unique only within their pool.
            let suffices = evidence[endpoint].add(message, connection: push.route.pool << 32 | connection)
            return suffices || endpoints[endpoint].opening != nil ? finding : .nothing
        }
    }

    private mutating func clearEvidence(_ endpoint: Int) {
        guard !evidence[endpoint].isEmpty else { return }
        evidence[endpoint].clear()
        evidenceCount -= 1
    }

    private mutating func learn(
        _ finding: RouteAttribution.Finding, at scope: BreakerScope, _ push: AdmittedPush, _ now: MonotonicTime,
        _ random: () -> UInt64,
        _ cause: inout HoldReason?
    ) {
        let opening = self[scope].opening
        switch finding {
        case .good:
            // A push that was sent before the breaker opened proves nothing.
            guard let opening, push.begunAt >= opening.since else { return }
            if push.isProbe || push.begunAt > opening.since { close(scope) }
        case .bad(let found):
            cause = cause ?? found
            if opening != nil, push.isProbe {
                self[scope].probeFailed(now, secondsMax: scope.probeSecondsMax(found), random: random())
            } else {
                open(scope, found, .byMessage, now)
            }
        case .nothing:
            if opening != nil, push.isProbe { self[scope].probeEndedUndecided() }
        }
    }

    /// Opens the breaker of an endpoint to which no connection can be opened, or of the credential if only its
    /// connections fail. Attempts to connect probe the breaker.
    mutating func cannotConnect(_ pool: Int, isAlone: Bool, _ cause: HoldReason, _ now: MonotonicTime) {
        // Keep the breaker of a refused credential. A connection would close the breaker, but the credential would be
        // refused again.
        guard !isAlone || credentials[pool].opening?.probing != .byMessage else { return }
        open(isAlone ? .credential(pool: pool) : .endpoint(endpointOfPool[pool]), cause, .byConnecting, now)
    }

    /// Handles several consecutive connections that ended before any push was answered. Opens the breaker of the
    /// credential, or the breaker of the endpoint if all other credentials of the endpoint are affected, too.
    /// Connecting succeeds, so pushes probe the breaker.
    mutating func endedUnanswered(_ pool: Int, _ cause: HoldReason, _ now: MonotonicTime) {
        let endpoint = endpointOfPool[pool]
        let isAlone = endpointOfPool.indices.contains {
            $0 != pool && endpointOfPool[$0] == endpoint
                && credentials[$0].opening?.cause.code != HoldReason.unansweredCode
        }
        let scope = isAlone ? BreakerScope.credential(pool: pool) : .endpoint(endpoint)
        if self[scope].opening == nil { open(scope, cause, .byMessage, now) }
    }

    /// Closes the breakers of the pool and of its endpoint if connecting probes them.
    mutating func connected(_ pool: Int) {
        closeConnecting(.endpoint(endpointOfPool[pool]))
        closeConnecting(.credential(pool: pool))
    }

    private mutating func closeConnecting(_ scope: BreakerScope) {
        if self[scope].opening?.probing == .byConnecting { close(scope) }
    }

    /// Opens the breaker of a credential that the endpoint refused on a new connection, before any push. Closes the
    /// breaker of the endpoint if connecting probes it.
    mutating func refused(_ pool: Int, _ cause: HoldReason, _ now: MonotonicTime) {
        closeConnecting(.endpoint(endpointOfPool[pool]))
        let scope = BreakerScope.credential(pool: pool)
        if self[scope].opening?.probing == .byConnecting { changes.append(.opened(scope, cause)) }
        open(scope, cause, .byMessage, now)
    }

    /// Returns whether the pool must connect without a push.
    func awaitsConnection(_ pool: Int) -> Bool {
        endpoints[endpointOfPool[pool]].opening != nil || credentials[pool].opening?.probing == .byConnecting
    }

    private func noConnectionCause(_ pool: Int) -> HoldReason? {
        (endpoints[endpointOfPool[pool]].opening ?? credentials[pool].opening)?.cause
    }

    private mutating func open(
        _ scope: BreakerScope, _ cause: HoldReason, _ probing: Breaker.Probing, _ now: MonotonicTime
    ) {
        if case .topic(let route) = scope, self[scope].opening == nil { topics.append((route, Breaker())) }
        guard self[scope].open(cause, probing, now) else { return }
        openCount += 1
        changes.append(.opened(scope, cause))
    }

    private mutating func close(_ scope: BreakerScope) {
        guard let opening = self[scope].close() else { return }
        openCount -= 1
        changes.append(.closed(scope, opening))
        switch scope {
        case .endpoint(let endpoint): clearEvidence(endpoint)
        case .credential: break
        case .topic(let route): topics.removeAll { $0.route == route }
        }
    }

    private func scopes(of route: Route) -> [BreakerScope] {
        [.endpoint(endpointOfPool[route.pool]), .credential(pool: route.pool), .topic(route)]
    }

    private subscript(scope: BreakerScope) -> Breaker {
        get {
            switch scope {
            case .endpoint(let index): endpoints[index]
            case .credential(let pool): credentials[pool]
            case .topic(let route): topics.first { $0.route == route }?.breaker ?? Breaker()
            }
        }
        set {
            switch scope {
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
    /// Whether the push was sent but not answered, or was accepted by no connection.
    fileprivate var hasNoAnswer: Bool {
        switch self {
        case .unknown, .notSent(.noConnection), .notSent(.notWritten), .notSent(.refused): true
        case .answered, .notSent: false
        }
    }
}
