public import EventLoop

/// Decides when a new provider token is made. APNs wants one no older than 60 minutes and no sooner than 20 minutes
/// after the one before (Apple, "Establishing a token-based connection").
///
/// Ages go by the clock that nobody sets and that goes on while the machine is suspended. The wall clock, which a
/// token's `iat` is read from, counts only where a token was refused: if it was set since, a new token is a better one.
///
/// Pure: it is told the time and what happened, and says what to do.
public struct ProviderTokenPolicy: Sendable {
    /// All in seconds; those of a token's age unless they say otherwise.
    public struct Configuration: Sendable, Hashable {
        /// A new token is made at an age between these, drawn anew for each, so that workers do not do it all at once;
        /// early enough that a connection which begins with the one before may keep it for `gapSeconds`.
        public var refreshSecondsMin: Int64 = 25 * 60
        public var refreshSecondsMax: Int64 = 30 * 60
        /// No token is made sooner after the one before, unless the wall clock was set.
        public var gapSeconds: Int64 = 20 * 60
        /// An older one is not sent.
        public var useSecondsMax: Int64 = 57 * 60
        /// The wall clock was set when it has moved so much more or less than time has passed since the token was made.
        public var stepSecondsMin: Int64 = 60

        public init() {}
    }

    /// What follows when APNs refuses a token.
    public enum RefusalAction: Sendable, Hashable {
        /// Make a new one and send the push again.
        case mint
        /// There is a newer one already: send the push again with that.
        case useNewer
        /// A new one would say the same: the clock is wrong, or the answer.
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

    /// Whether a new token is due.
    public func isMintDue(_ now: Now) -> Bool {
        guard let last else { return true }
        return ageSeconds(last, now) >= max(last.refreshSeconds, configuration.gapSeconds)
    }

    /// Whether the newest token may be sent.
    public func isUsable(_ now: Now) -> Bool {
        last.map { ageSeconds($0, now) < configuration.useSecondsMax } ?? false
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
    public func expired(generation: Int, _ now: Now) -> RefusalAction {
        guard let last, last.generation == generation else { return .useNewer }
        return ageSeconds(last, now) >= configuration.gapSeconds || hasStepped(last, now) ? .mint : .giveUp
    }

    /// APNs answered `InvalidProviderToken`, which a token from a clock that was ahead may get as well.
    public func invalid(generation: Int, _ now: Now) -> RefusalAction {
        guard let last, last.generation == generation else { return .useNewer }
        return hasStepped(last, now) ? .mint : .giveUp
    }

    private func ageSeconds(_ minted: Minted, _ now: Now) -> Int64 {
        (now.sinceBoot.nanoseconds - minted.at.sinceBoot.nanoseconds) / 1_000_000_000
    }

    /// True once for each step, since the next token remembers the clock that it was made by.
    private func hasStepped(_ minted: Minted, _ now: Now) -> Bool {
        let wallSeconds = now.unixSeconds - minted.at.unixSeconds
        return (wallSeconds - ageSeconds(minted, now)).magnitude >= UInt64(max(1, configuration.stepSecondsMin))
    }
}
