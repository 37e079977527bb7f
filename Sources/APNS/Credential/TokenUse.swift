import EventLoop

/// The choice of the provider token that one connection sends.
///
/// APNs refuses pushes on a connection that changes its token more than once in 20 minutes
/// (`TooManyProviderTokenUpdates`). A connection therefore keeps a token for at least `gapSeconds`. If the token
/// becomes too old during this time, the connection must be replaced.
///
/// The type is pure. Callers pass the time (`Now.sinceBoot`) and the newest token's generation.
struct TokenUse: Sendable {
    enum Decision: Sendable, Hashable {
        /// The newest token, from now on.
        case useNewest
        /// The current token.
        case keep
        /// Neither token, so the connection must be replaced.
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
