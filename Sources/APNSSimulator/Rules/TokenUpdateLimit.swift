import APNSProtocol
import EventLoop

/// The limit of one new provider token in 20 minutes on a connection (Apple, "Establishing a token-based connection to
/// APNs").
struct TokenUpdateLimit {
    private var hasToken = false
    private var lastUpdate: MonotonicTime?

    /// Records a valid token that is new to the connection. Returns false if the token exceeds the limit.
    mutating func admitsNewToken(at now: MonotonicTime, mode: RuleOptions.TokenUpdates) -> Bool {
        let isFirst = !hasToken
        // An update in the future happened before the clock was set back, so the update does not count.
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
