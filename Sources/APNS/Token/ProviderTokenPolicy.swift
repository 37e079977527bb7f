public import EventLoop

/// Decides when a new provider token is made. APNs wants one no older than 60 minutes and no sooner than 20 minutes
/// after the one before (Apple, "Establishing a token-based connection").
///
/// Pure: it is told the time and what happened, and says what to do.
public struct ProviderTokenPolicy: Sendable {
    /// All in seconds of a token's age.
    public struct Configuration: Sendable, Hashable {
        /// A new token is made at an age between these, drawn anew for each, so that workers do not do it all at once.
        public var refreshSecondsMin: Int64 = 40 * 60
        public var refreshSecondsMax: Int64 = 50 * 60
        /// No token is made sooner after the one before.
        public var gapSeconds: Int64 = 20 * 60
        /// A new connection does not begin with an older one, since it may not switch for the next `gapSeconds`.
        public var beginSecondsMax: Int64 = 30 * 60
        /// An older one is not sent.
        public var useSecondsMax: Int64 = 57 * 60

        public init() {}
    }

    /// What follows when APNs says that a token has expired.
    public enum ExpiryAction: Sendable, Hashable {
        /// Make a new one and send the push again.
        case mint
        /// There is a newer one already: send the push again with that.
        case useNewer
        /// The token is young: the clock is wrong, or the answer. Making new ones would not help.
        case giveUp
    }

    private struct Minted {
        var generation: Int
        var at: Now
        var refreshSeconds: Int64
    }

    public let configuration: Configuration
    private var last: Minted?

    public init(_ configuration: Configuration = Configuration()) {
        self.configuration = configuration
    }

    /// Whether a new token is due before the next request is sent.
    public func isMintDue(_ now: Now) -> Bool {
        guard let last else { return true }
        return mayMint(now) && age(last, now) >= last.refreshSeconds
    }

    /// Whether a new token is due before a new connection sends its first.
    public func isMintDueForNewConnection(_ now: Now) -> Bool {
        guard let last else { return true }
        return mayMint(now) && age(last, now) >= configuration.beginSecondsMax
    }

    /// Whether the newest token may be sent.
    public func isUsable(_ now: Now) -> Bool {
        last.map { age($0, now) < configuration.useSecondsMax } ?? false
    }

    /// A token was made.
    ///
    /// - Parameter random: draws the age at which the next is made.
    public mutating func minted(generation: Int, at now: Now, random: UInt64) {
        let span = UInt64(max(0, configuration.refreshSecondsMax - configuration.refreshSecondsMin)) + 1
        let refresh = configuration.refreshSecondsMin + Int64(random % span)
        last = Minted(generation: generation, at: now, refreshSeconds: refresh)
    }

    /// APNs answered `ExpiredProviderToken` to a token of ours.
    public func expired(generation: Int, _ now: Now) -> ExpiryAction {
        guard let last, last.generation == generation else { return .useNewer }
        return mayMint(now) ? .mint : .giveUp
    }

    private func mayMint(_ now: Now) -> Bool {
        last.map { elapsedSeconds($0, now) >= configuration.gapSeconds } ?? true
    }

    private func elapsedSeconds(_ minted: Minted, _ now: Now) -> Int64 {
        minted.at.monotonic.duration(to: now.monotonic).components.seconds
    }

    /// By the clock that moves further: when the wall clock is set forward, the token's `iat` is older than it was.
    private func age(_ minted: Minted, _ now: Now) -> Int64 {
        max(elapsedSeconds(minted, now), now.unixSeconds - minted.at.unixSeconds)
    }
}
