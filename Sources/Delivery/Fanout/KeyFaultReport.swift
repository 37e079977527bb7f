import EventLoop

/// The report of a data key that the key file of the worker lacks. Only requests that need a row of this key are held,
/// so the breaker of the store stays closed.
///
/// Pure.
struct KeyFaultReport {
    /// The time after the last fault for which the report remains.
    static let secondsMax: Int64 = 900

    struct Current: Sendable, Hashable {
        let cause: HoldReason
        /// The time of the first fault.
        let since: MonotonicTime
        fileprivate let lastAt: MonotonicTime
    }

    private var current: Current?

    /// Records a fault. Returns whether the fault begins a report.
    mutating func failed(_ cause: HoldReason, _ now: MonotonicTime) -> Bool {
        let previous = report(now)
        current = Current(cause: cause, since: previous?.since ?? now, lastAt: now)
        return previous == nil
    }

    /// Returns the current report; nil without a recent fault.
    func report(_ now: MonotonicTime) -> Current? {
        current.flatMap { now < $0.lastAt + .seconds(Self.secondsMax) ? $0 : nil }
    }
}
