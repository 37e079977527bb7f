import APNSProtocol
import EventLoop

/// How often a connection has come with a new provider token: no more than once in 20 minutes (Apple, "Establishing a
/// token-based connection to APNs").
struct TokenUpdateLimit {
    private var hasToken = false
    private var lastUpdate: MonotonicTime?

    /// Takes a valid token that is new to the connection; false when it comes too soon.
    mutating func admitsNewToken(at now: MonotonicTime, mode: RuleOptions.TokenUpdates) -> Bool {
        let isFirst = !hasToken
        if let lastUpdate, mode != .off,
            lastUpdate.duration(to: now) < .seconds(APNSLimits.providerTokenAgeSecondsMin)
        {
            return false
        }
        hasToken = true
        if !isFirst || mode == .strict { lastUpdate = now }
        return true
    }
}
