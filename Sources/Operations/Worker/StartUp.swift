import EventLoop

/// What a worker that waits for its broker says meanwhile: one line when something is wrong, at most one a minute while
/// it lasts, one when it has ended.
struct StartUp {
    enum Line: Equatable {
        case unreachable
        case reached(after: Duration)
        /// `queue push.requests` and so on.
        case missing([String])
        case complete(after: Duration)
    }

    static let warningIntervalSeconds = 60

    private struct Trouble {
        var began: MonotonicTime
        var warned: MonotonicTime

        init(_ now: MonotonicTime) { (began, warned) = (now, now) }

        mutating func mayWarn(_ now: MonotonicTime) -> Bool {
            guard warned.duration(to: now) >= .seconds(StartUp.warningIntervalSeconds) else { return false }
            warned = now
            return true
        }
    }

    private var unreachable: Trouble?
    private var missing: Trouble?

    mutating func cannotReach(now: MonotonicTime) -> Line? {
        guard unreachable != nil else {
            unreachable = Trouble(now)
            return .unreachable
        }
        return unreachable?.mayWarn(now) == true ? .unreachable : nil
    }

    mutating func reached(now: MonotonicTime) -> Line? {
        defer { unreachable = nil }
        return unreachable.map { .reached(after: $0.began.duration(to: now)) }
    }

    /// - Parameter names: what is missing; none when all is there.
    mutating func checked(missing names: [String], now: MonotonicTime) -> Line? {
        guard !names.isEmpty else {
            defer { missing = nil }
            return missing.map { .complete(after: $0.began.duration(to: now)) }
        }
        guard missing != nil else {
            missing = Trouble(now)
            return .missing(names)
        }
        return missing?.mayWarn(now) == true ? .missing(names) : nil
    }
}
