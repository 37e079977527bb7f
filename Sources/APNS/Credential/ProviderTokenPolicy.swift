public import EventLoop

/// The policy that decides when a new provider token is signed. APNs refuses tokens that are older than 60 minutes,
/// and new tokens that follow the previous one within 20 minutes (Apple, "Establishing a token-based connection").
///
/// Ages use the boot-time clock, which cannot be set and advances while the machine is suspended. A token's `iat` uses
/// the wall clock. After a refusal, a new token helps if the wall clock was set since the token was signed.
///
/// The policy is pure. Callers pass the time and the events.
public struct ProviderTokenPolicy: Sendable {
    /// Limits in seconds.
    public struct Configuration: Sendable, Hashable {
        /// Bounds of the age at which a token is replaced. The age is random for each token, which spreads the
        /// workers' renewals. Even at the upper bound, the replaced token remains usable for `gapSeconds`, the minimum
        /// time that a connection keeps a token.
        public var refreshSecondsMin: Int64 = 25 * 60
        public var refreshSecondsMax: Int64 = 30 * 60
        /// Minimum age of the previous token when a new one is signed, unless the wall clock was set.
        public var gapSeconds: Int64 = 20 * 60
        /// Age from which a token is not sent.
        public var useSecondsMax: Int64 = 57 * 60
        /// Minimum difference between the wall clock and the boot-time clock, in the time since signing. From this
        /// difference on, the wall clock counts as set.
        public var stepSecondsMin: Int64 = 60

        public init() {}
    }

    /// The reaction to a refused token.
    public enum RefusalAction: Sendable, Hashable {
        /// A resend of the push with a new token.
        case mint
        /// A resend of the push with the newer token that exists already.
        case useNewer
        /// No resend, because a new token would not help.
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

    public func isMintDue(_ now: Now) -> Bool {
        guard let last else { return true }
        return ageSeconds(last, now) >= max(last.refreshSeconds, configuration.gapSeconds)
    }

    /// Returns whether the newest token may be sent.
    public func isUsable(_ now: Now) -> Bool {
        last.map { ageSeconds($0, now) < configuration.useSecondsMax } ?? false
    }

    /// Records a newly signed token.
    ///
    /// - Parameter random: selects the age at which the token is replaced.
    public mutating func minted(generation: Int, at now: Now, random: UInt64) {
        let span = UInt64(max(0, configuration.refreshSecondsMax - configuration.refreshSecondsMin)) + 1
        let refresh = configuration.refreshSecondsMin + Int64(random % span)
        last = Minted(generation: generation, at: now, refreshSeconds: refresh)
    }

    /// Returns the reaction to the answer `ExpiredProviderToken`.
    public func expired(generation: Int, _ now: Now) -> RefusalAction {
        guard let last, last.generation == generation else { return .useNewer }
        return ageSeconds(last, now) >= configuration.gapSeconds || hasStepped(last, now) ? .mint : .giveUp
    }

    /// Returns the reaction to the answer `InvalidProviderToken`. A token that was signed while the clock was ahead may
    /// get this answer, too.
    public func invalid(generation: Int, _ now: Now) -> RefusalAction {
        guard let last, last.generation == generation else { return .useNewer }
        return hasStepped(last, now) ? .mint : .giveUp
    }

    private func ageSeconds(_ minted: Minted, _ now: Now) -> Int64 {
        (now.sinceBoot.nanoseconds - minted.at.sinceBoot.nanoseconds) / 1_000_000_000
    }

    /// Returns whether the wall clock was set since the token was signed.
    private func hasStepped(_ minted: Minted, _ now: Now) -> Bool {
        let wallSeconds = now.unixSeconds - minted.at.unixSeconds
        return (wallSeconds - ageSeconds(minted, now)).magnitude >= UInt64(max(1, configuration.stepSecondsMin))
    }
}
