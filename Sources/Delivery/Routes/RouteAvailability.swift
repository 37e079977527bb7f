import EventLoop

/// The availability of the endpoints. Unreachable endpoints stop a lane from consuming requests only while no endpoint
/// accepts connections. The lane would hold every request then, so no request starves.
///
/// Pure. Its methods have events of the connection pools and the time as parameters.
struct RouteAvailability: Sendable {
    /// The grace period of a missing endpoint, in which the lane keeps consuming.
    static let graceSeconds: Int64 = 1
    /// The time for the first connection to a tested endpoint. It exceeds the wait of a pool after a
    /// first failed attempt.
    static let testGraceSeconds: Int64 = 3

    /// The time for which a closed connection, or a connection with a refused certificate, proves that the endpoint
    /// accepts connections.
    static let acceptanceSeconds: Int64 = 60

    enum State: Sendable, Hashable {
        /// The state while at least one endpoint accepts connections, or while no endpoint is missing.
        case available
        /// The state while no endpoint is known to accept connections. The caller reviews the state at `until`.
        case interrupted(until: MonotonicTime)
        /// The state while no endpoint accepts connections.
        case unreachable
    }

    private enum Endpoint: Hashable {
        /// An endpoint without a completed attempt to connect since the start, or since the last connection ended. To:
        /// accepting, missing.
        case untested
        /// An endpoint whose last attempt to connect succeeded. To: missing, untested.
        case accepting(since: MonotonicTime)
        /// An endpoint whose attempts to connect have failed, or have not succeeded yet. To: accepting.
        case missing(since: MonotonicTime)
    }

    /// The maximum number of an endpoint's pools that connect without a push to test whether the endpoint accepts
    /// connections.
    static let testingPoolsMax = 4

    private var endpoints: [Endpoint]
    /// The pool of the last call of `accepted` for each endpoint; nil before the first call.
    private var acceptedPools: [Int?]

    init(endpointCount: Int) {
        endpoints = Array(repeating: .untested, count: endpointCount)
        acceptedPools = Array(repeating: nil, count: endpointCount)
    }

    /// Returns at most `testingPoolsMax` pools that test an endpoint. The last accepted pool comes first, and the
    /// others follow from a random position. One pool does not suffice, since the file of its credential may be missing
    /// or its proxy down.
    func testingPools(of endpoint: Int, among pools: [Int], random: UInt64) -> some Collection<Int> {
        let first = Int(random % UInt64(max(1, pools.count)))
        let accepted = pools.filter { $0 == acceptedPools[endpoint] }
        return (accepted + (pools[first...] + pools[..<first]).filter { !accepted.contains($0) })
            .prefix(Self.testingPoolsMax)
    }

    /// Records that a connection to the endpoint is up, or that its server refused only the credential.
    mutating func accepted(_ endpoint: Int, pool: Int, _ now: MonotonicTime) {
        endpoints[endpoint] = .accepting(since: now)
        acceptedPools[endpoint] = pool
    }

    /// Records that the last connection of the endpoint ended. Whether the endpoint still accepts connections is
    /// unknown.
    mutating func lost(_ endpoint: Int) {
        if case .accepting = endpoints[endpoint] { endpoints[endpoint] = .untested }
    }

    /// Returns the endpoints whose last success is so old that it counts only while a connection is up. The caller
    /// reports ``lost(_:)`` for the endpoints without a connection. Returns no endpoints unless another endpoint is
    /// missing.
    func oldAcceptances(_ now: MonotonicTime) -> [Int] {
        guard endpoints.contains(where: { if case .missing = $0 { true } else { false } }) else { return [] }
        return endpoints.indices.filter { endpoint in
            guard case .accepting(let since) = endpoints[endpoint] else { return false }
            return since.duration(to: now) >= .seconds(Self.acceptanceSeconds)
        }
    }

    /// Records a failed attempt to connect to an endpoint without a connection.
    mutating func missed(_ endpoint: Int, since: MonotonicTime) {
        if case .missing(let known) = endpoints[endpoint], known <= since { return }
        endpoints[endpoint] = .missing(since: since)
    }

    /// Returns the state. Call this function after ``beginTests(_:)``.
    func state(_ now: MonotonicTime) -> State {
        guard let deadline else { return .available }
        return now < deadline ? .interrupted(until: deadline) : .unreachable
    }

    /// Returns the untested endpoints once the grace period of the missing endpoints has ended, and marks the returned
    /// endpoints as missing. The caller connects to the returned endpoints without a push.
    mutating func beginTests(_ now: MonotonicTime) -> [Int] {
        guard let deadline, now >= deadline else { return [] }
        let untested = endpoints.indices.filter { endpoints[$0] == .untested }
        let since = now + .seconds(Self.testGraceSeconds - Self.graceSeconds)
        for endpoint in untested { endpoints[endpoint] = .missing(since: since) }
        return untested
    }

    /// The time at which the grace periods of all missing endpoints have ended; nil if an endpoint accepts connections
    /// or no endpoint is missing.
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
