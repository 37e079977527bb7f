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
        // An update that is still to come was before the clock was set back.
        if let lastUpdate, mode != .off,
            now.isWithin(.seconds(APNSLimits.providerTokenAgeSecondsMin), of: lastUpdate)
        {
            return false
        }
        hasToken = true
        if !isFirst || mode == .strict { lastUpdate = now }
        return true
    }
}
