import EventLoop

/// A circuit breaker, which holds pushes that are known to fail and closes after a successful probe.
///
/// Pure. Its methods have the time and the events as parameters. An open breaker is probed by connecting, which needs
/// no push, or by one push when a probe is due.
struct Breaker: Sendable, Hashable {
    static let firstProbeSeconds: Int64 = 5
    static let probeSecondsMax: Int64 = 60
    /// The longest wait between probes of an endpoint that answers. All apps wait for the endpoint, and its answers
    /// prove that the probes pushed nothing.
    static let answeredProbeSecondsMax: Int64 = 10

    enum Probing: Sendable, Hashable {
        case byConnecting
        case byMessage
    }

    struct Opening: Sendable, Hashable {
        var cause: HoldReason
        let since: MonotonicTime
        var probing: Probing
        /// The time from which the next probing push is admitted.
        fileprivate(set) var nextProbe: MonotonicTime
        fileprivate var waitSeconds: Int64
        fileprivate(set) var isBeingProbed = false
    }

    enum Admission: Sendable, Hashable {
        case go
        case probe
        case hold(HoldReason)
    }

    /// The current opening; nil while the breaker is closed.
    private(set) var opening: Opening?

    func admission(_ now: MonotonicTime) -> Admission {
        guard let opening else { return .go }
        guard opening.probing == .byMessage, !opening.isBeingProbed, now >= opening.nextProbe else {
            return .hold(opening.cause)
        }
        return .probe
    }

    /// Opens the breaker, or changes its cause and `probing` if the breaker is already open. Returns whether the
    /// breaker was closed.
    mutating func open(_ cause: HoldReason, _ probing: Probing, _ now: MonotonicTime) -> Bool {
        guard opening == nil else {
            opening?.cause = cause
            opening?.probing = probing
            return false
        }
        opening = Opening(
            cause: cause, since: now, probing: probing, nextProbe: now + .seconds(Self.firstProbeSeconds),
            waitSeconds: Self.firstProbeSeconds)
        return true
    }

    /// Makes the next probing push of an open breaker due.
    mutating func probeNow(_ now: MonotonicTime) {
        guard let opening, now < opening.nextProbe else { return }
        self.opening?.nextProbe = now
    }

    mutating func probeBegan() {
        opening?.isBeingProbed = true
    }

    /// Schedules the next probe after a failed probe. Doubles the wait, up to `secondsMax`.
    ///
    /// - Parameters:
    ///   - secondsMax: The longest wait.
    ///   - random: A random number, which selects a wait from the upper half of the doubled wait.
    mutating func probeFailed(_ now: MonotonicTime, secondsMax: Int64 = Self.probeSecondsMax, random: UInt64) {
        guard let opening else { return }
        let doubled = min(opening.waitSeconds * 2, secondsMax)
        let half = doubled * 500
        self.opening?.waitSeconds = doubled
        self.opening?.nextProbe = now + .milliseconds(half + Int64(random % UInt64(half + 1)))
        self.opening?.isBeingProbed = false
    }

    /// Ends a probe whose outcome does not concern the cause. The next push may probe.
    mutating func probeEndedUndecided() {
        opening?.isBeingProbed = false
    }

    /// Closes the breaker. Returns the opening that ended; nil if the breaker was closed.
    mutating func close() -> Opening? {
        opening.take()
    }
}
