public import EventLoop

/// Decides what an operator reads of an outage: one warning when it begins, at most one a minute, and one line when it
/// is over, with its length. One for each connection, and one for each channel. Pure.
public struct OutageLog: Sendable {
    public enum Line: Sendable, Hashable {
        /// To be logged as a warning.
        case began(AMQPError)
        /// To be logged as a warning: it goes on, for so long by now.
        case lasts(AMQPError, Duration)
        /// It is over after so long.
        case ended(after: Duration)
    }

    public static let repeatSecondsMin = 60

    private var beganAt: MonotonicTime?
    private var warnedAt: MonotonicTime?
    /// Whether this outage was warned of: an end without a beginning would be a riddle.
    private var isKnown = false

    public init() {}

    /// The state is another now, or failed again: what to log, if anything.
    public mutating func changed(to state: BrokerState, now: MonotonicTime) -> Line? {
        switch state {
        case .waiting(let error, _): failed(error, now: now)
        case .blocked(let reason): failed(AMQPError(.refused, "the broker takes no messages: \(reason)"), now: now)
        case .ready: ended(now: now)
        case .closed: forget()
        case .idle, .connecting, .disconnected: nil
        }
    }

    private mutating func failed(_ error: AMQPError, now: MonotonicTime) -> Line? {
        let began = beganAt ?? now
        beganAt = began
        if let warnedAt, warnedAt.duration(to: now) < .seconds(Self.repeatSecondsMin) { return nil }
        warnedAt = now
        defer { isKnown = true }
        return isKnown || began < now ? .lasts(error, began.duration(to: now)) : .began(error)
    }

    private mutating func ended(now: MonotonicTime) -> Line? {
        defer { _ = forget() }
        guard isKnown, let beganAt else { return nil }
        return .ended(after: beganAt.duration(to: now))
    }

    private mutating func forget() -> Line? {
        beganAt = nil
        isKnown = false
        return nil
    }
}
