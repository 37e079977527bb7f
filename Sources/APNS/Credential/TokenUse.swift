import EventLoop

/// Which provider token one connection sends. APNs refuses a connection that changes its token more than once in 20
/// minutes (`TooManyProviderTokenUpdates`), so each connection takes a new one only then; until that time the one before
/// goes on, and when that grows too old the connection has to be replaced.
///
/// Pure: it is told the time (`Now.sinceBoot`) and the newest token's number.
struct TokenUse: Sendable {
    enum Decision: Sendable, Hashable {
        /// Send the newest from now on.
        case useNewest
        /// Go on with the one in use.
        case keep
        /// Neither can be sent on this connection.
        case replaceConnection
    }

    private struct Use {
        var generation: Int
        var mintedAt: MonotonicTime
        var since: MonotonicTime
    }

    let gapSeconds: Int64
    let useSecondsMax: Int64
    private var use: Use?

    init(_ configuration: ProviderTokenPolicy.Configuration) {
        gapSeconds = configuration.gapSeconds
        useSecondsMax = configuration.useSecondsMax
    }

    mutating func decide(newest generation: Int, mintedAt: MonotonicTime, _ now: MonotonicTime) -> Decision {
        guard let current = use else {
            use = Use(generation: generation, mintedAt: mintedAt, since: now)
            return .useNewest
        }
        guard current.generation != generation else { return .keep }
        if current.since.duration(to: now) >= .seconds(gapSeconds) {
            use = Use(generation: generation, mintedAt: mintedAt, since: now)
            return .useNewest
        }
        return current.mintedAt.duration(to: now) < .seconds(useSecondsMax) ? .keep : .replaceConnection
    }
}
