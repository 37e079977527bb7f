import ControlProtocol
import EventLoop

/// A state machine that decides when a worker reports to the fleet. It performs no I/O.
struct ReportSchedule: Sendable {
    /// Minimum time between two reports, except before the last report.
    static let gapSecondsMin = 1
    /// Maximum deviation from the interval, so that the reports of many workers do not coincide.
    private static let jitterPercentMax = 20

    enum State: Equatable, Sendable {
        /// Before the first report. To: reporting, ended.
        case new
        /// - Parameters:
        ///   - last: the time of the last report.
        ///   - next: the time of the next report.
        ///   - watchedUntil: the time until which the worker reports each second; nil without a command `report`. To:
        ///     reporting, ended.
        case reporting(last: MonotonicTime, next: MonotonicTime, watchedUntil: MonotonicTime?)
        /// No report follows.
        case ended
    }

    enum Event: Sendable {
        case started
        /// A change of a breaker, the pauses or their revision, the phase or the readiness.
        case changed
        /// A command `report`.
        case commanded(seconds: Int)
        case timerFired
        /// The end of the drain, which the last report follows.
        case drained
        /// The end of fleet control, without a last report.
        case stopped
    }

    enum Action: Equatable, Sendable {
        case report(hasEnded: Bool)
        /// A timer that reports `timerFired` at this time and replaces the previous timer; nil to cancel the timer.
        case setTimer(MonotonicTime?)
    }

    private(set) var state = State.new
    private let interval: Duration
    private var random: SeededRandom
    private var timer: MonotonicTime?

    /// - Parameters:
    ///   - intervalSeconds: at least ``gapSecondsMin``.
    ///   - seed: a random number for the jitter.
    init(intervalSeconds: Int = 10, seed: UInt64) {
        interval = .seconds(max(intervalSeconds, Self.gapSecondsMin))
        random = SeededRandom(seed: seed)
    }

    mutating func handle(_ event: Event, now: MonotonicTime) -> [Action] {
        var actions = respond(to: event, now)
        if deadline != timer {
            timer = deadline
            actions.append(.setTimer(deadline))
        }
        return actions
    }

    private var deadline: MonotonicTime? {
        if case .reporting(_, let next, _) = state { next } else { nil }
    }

    private mutating func respond(to event: Event, _ now: MonotonicTime) -> [Action] {
        if case .timerFired = event { timer = nil }
        switch (state, event) {
        case (.new, .started): return report(now, watchedUntil: nil)
        case (.new, .drained), (.reporting, .drained):
            state = .ended
            return [.report(hasEnded: true)]
        case (.new, .stopped), (.reporting, .stopped):
            state = .ended
            return []
        case (.reporting(let last, let next, let until), .changed):
            state = .reporting(last: last, next: min(next, last + .seconds(Self.gapSecondsMin)), watchedUntil: until)
            return reportIfDue(now)
        case (.reporting(let last, let next, let until), .commanded(let seconds)):
            let end = now + .seconds(min(max(seconds, 0), FleetLimits.reportSecondsMax))
            state = .reporting(
                last: last, next: min(next, last + .seconds(Self.gapSecondsMin)),
                watchedUntil: max(end, until ?? end))
            return reportIfDue(now)
        case (.reporting, .timerFired): return reportIfDue(now)
        case (.new, .changed), (.new, .commanded), (.new, .timerFired), (.reporting, .started), (.ended, _): return []
        }
    }

    private mutating func reportIfDue(_ now: MonotonicTime) -> [Action] {
        guard case .reporting(_, let next, let until) = state, now >= next else { return [] }
        return report(now, watchedUntil: until)
    }

    private mutating func report(_ now: MonotonicTime, watchedUntil: MonotonicTime?) -> [Action] {
        let second = now + .seconds(Self.gapSecondsMin)
        if let watchedUntil, second <= watchedUntil {
            state = .reporting(last: now, next: second, watchedUntil: watchedUntil)
        } else {
            state = .reporting(last: now, next: now + jittered, watchedUntil: nil)
        }
        return [.report(hasEnded: false)]
    }

    /// The interval with a random deviation, at least ``gapSecondsMin``.
    private var jittered: Duration {
        mutating get {
            let percent = 100 - Self.jitterPercentMax + random.below(2 * Self.jitterPercentMax + 1)
            return max(interval * percent / 100, .seconds(Self.gapSecondsMin))
        }
    }
}
