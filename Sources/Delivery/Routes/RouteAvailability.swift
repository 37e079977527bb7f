import EventLoop

/// Whether any endpoint accepts connections. A lane stops consuming only while none does: then every request would be held,
/// and none can starve.
///
/// Pure: takes events of the connection pools and the time.
struct RouteAvailability: Sendable {
    /// An interruption that is shorter changes nothing: a replacement connection is usually up in 20 ms.
    static let graceSeconds: Int64 = 1
    /// What an endpoint that is tested gets for its first connection: longer than a pool waits before it connects again.
    static let testGraceSeconds: Int64 = 3

    /// A connection that the pool left, or that was refused a certificate, shows for so long that the endpoint accepts
    /// connections.
    static let acceptanceSeconds: Int64 = 60

    enum State: Sendable, Hashable {
        /// At least one endpoint accepts connections, or nothing is known of any.
        case available
        /// No endpoint is known to accept connections. Review the state at this time.
        case interrupted(until: MonotonicTime)
        /// No endpoint accepts connections.
        case unreachable
    }

    private enum Endpoint: Hashable {
        /// No attempt to connect has ended since the start, or since the last connection ended. To: accepting, missing.
        case untested
        /// The last attempt to connect succeeded. To: missing, untested.
        case accepting(since: MonotonicTime)
        /// Attempts to connect have failed, or not succeeded yet. To: accepting.
        case missing(since: MonotonicTime)
    }

    /// Pools of one endpoint that connect without a push to find out whether it accepts connections.
    static let testingPoolsMax = 4

    private var endpoints: [Endpoint]
    /// By endpoint: the pool that was accepted last.
    private var acceptedPools: [Int?]

    init(endpointCount: Int) {
        endpoints = Array(repeating: .untested, count: endpointCount)
        acceptedPools = Array(repeating: nil, count: endpointCount)
    }

    /// Returns those of an endpoint's pools that are to connect: the one that was accepted last, then some at random, as the
    /// file of one credential may be missing, or its proxy down.
    func testingPools(of endpoint: Int, among pools: [Int], random: UInt64) -> some Collection<Int> {
        let first = Int(random % UInt64(max(1, pools.count)))
        let accepted = pools.filter { $0 == acceptedPools[endpoint] }
        return (accepted + (pools[first...] + pools[..<first]).filter { !accepted.contains($0) })
            .prefix(Self.testingPoolsMax)
    }

    /// A connection to the endpoint is up, or its server refused only the credential.
    mutating func accepted(_ endpoint: Int, pool: Int, _ now: MonotonicTime) {
        endpoints[endpoint] = .accepting(since: now)
        acceptedPools[endpoint] = pool
    }

    /// The last connection of the endpoint has ended: whether the endpoint still accepts connections is unknown.
    mutating func lost(_ endpoint: Int) {
        if case .accepting = endpoints[endpoint] { endpoints[endpoint] = .untested }
    }

    /// Returns endpoints whose last success is so old that it counts only while a connection is up: report ``lost(_:)`` for
    /// those without one. Empty unless another endpoint is missing.
    func oldAcceptances(_ now: MonotonicTime) -> [Int] {
        guard endpoints.contains(where: { if case .missing = $0 { true } else { false } }) else { return [] }
        return endpoints.indices.filter { endpoint in
            guard case .accepting(let since) = endpoints[endpoint] else { return false }
            return since.duration(to: now) >= .seconds(Self.acceptanceSeconds)
        }
    }

    /// An attempt to connect failed, and the endpoint has no connection.
    mutating func missed(_ endpoint: Int, since: MonotonicTime) {
        if case .missing(let known) = endpoints[endpoint], known <= since { return }
        endpoints[endpoint] = .missing(since: since)
    }

    /// To be asked after ``beginTests(_:)``.
    func state(_ now: MonotonicTime) -> State {
        guard let deadline else { return .available }
        return now < deadline ? .interrupted(until: deadline) : .unreachable
    }

    /// Returns untested endpoints once the others have been missing for the grace: connect to them, without a push.
    mutating func beginTests(_ now: MonotonicTime) -> [Int] {
        guard let deadline, now >= deadline else { return [] }
        let untested = endpoints.indices.filter { endpoints[$0] == .untested }
        let since = now + .seconds(Self.testGraceSeconds - Self.graceSeconds)
        for endpoint in untested { endpoints[endpoint] = .missing(since: since) }
        return untested
    }

    /// When the grace of every endpoint that is missing ends; nil if an endpoint accepts connections, or none is missing.
    private var deadline: MonotonicTime? {
        var latest: MonotonicTime?
        for endpoint in endpoints {
            switch endpoint {
            case .accepting: return nil
            case .untested: break
            case .missing(let since): latest = max(latest ?? since, since)
            }
        }
        return latest.map { $0 + .seconds(Self.graceSeconds) }
    }
}
