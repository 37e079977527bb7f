import EventLoop

/// Holds up what is known to fail, and finds out when it works again.
///
/// Pure: it is told the time and what happened. Closed, or open: then either its endpoint is probed by connecting, which
/// needs no message, or one message is let through when a probe is due.
struct Breaker: Sendable, Hashable {
    static let firstProbeSeconds: Int64 = 5
    static let probeSecondsMax: Int64 = 60
    /// Of an endpoint that answers. Its answers show that it has pushed nothing, and all apps wait for it.
    static let answeredProbeSecondsMax: Int64 = 10

    enum Probing: Sendable, Hashable {
        case byConnecting
        case byMessage
    }

    struct Opening: Sendable, Hashable {
        var cause: HoldReason
        let since: MonotonicTime
        var probing: Probing
        /// When the next message is let through.
        fileprivate(set) var nextProbe: MonotonicTime
        fileprivate var waitSeconds: Int64
        fileprivate(set) var isBeingProbed = false
    }

    enum Admission: Sendable, Hashable {
        case go
        case probe
        case hold(HoldReason)
    }

    /// nil while it is closed.
    private(set) var opening: Opening?

    func admission(_ now: MonotonicTime) -> Admission {
        guard let opening else { return .go }
        guard opening.probing == .byMessage, !opening.isBeingProbed, now >= opening.nextProbe else {
            return .hold(opening.cause)
        }
        return .probe
    }

    /// Returns whether it was closed.
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

    mutating func probeBegan() {
        opening?.isBeingProbed = true
    }

    /// The cause is still there: the next probe waits twice as long.
    ///
    /// - Parameters:
    ///   - secondsMax: the longest wait.
    ///   - random: draws a wait from the upper half of the span.
    mutating func probeFailed(_ now: MonotonicTime, secondsMax: Int64 = Self.probeSecondsMax, random: UInt64) {
        guard let opening else { return }
        let doubled = min(opening.waitSeconds * 2, secondsMax)
        let half = doubled * 500
        self.opening?.waitSeconds = doubled
        self.opening?.nextProbe = now + .milliseconds(half + Int64(random % UInt64(half + 1)))
        self.opening?.isBeingProbed = false
    }

    /// The probe said nothing about the cause: the next message may try.
    mutating func probeEndedUndecided() {
        opening?.isBeingProbed = false
    }

    /// Returns what it was open for; nil when it was closed.
    mutating func close() -> Opening? {
        opening.take()
    }
}
