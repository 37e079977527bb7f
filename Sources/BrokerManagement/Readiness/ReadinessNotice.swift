import EventLoop

/// The rule that decides when a worker logs a line about the wait for its broker.
struct ReadinessNotice {
    enum Line: Equatable {
        case unreachable
        case reached(after: Duration)
        /// The missing objects, such as `queue push.requests`.
        case missing([String])
        case complete(after: Duration)
    }

    private var unreachable = Outage()
    private var missing = Outage()

    mutating func cannotReach(now: MonotonicTime) -> Line? { unreachable.lasts(now).map { _ in .unreachable } }

    mutating func reached(now: MonotonicTime) -> Line? { unreachable.ends(now).map { .reached(after: $0) } }

    /// Processes the result of a check. Returns the line that is due; nil if none is due.
    ///
    /// - Parameter names: the missing objects; empty if none is missing.
    mutating func checked(missing names: [String], now: MonotonicTime) -> Line? {
        guard names.isEmpty else { return missing.lasts(now).map { _ in .missing(names) } }
        return missing.ends(now).map { .complete(after: $0) }
    }
}
