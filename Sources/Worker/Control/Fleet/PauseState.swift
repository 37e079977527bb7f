import ControlProtocol
import Delivery
import EventLoop

/// A state machine that decides which pauses of the fleet are in force in this worker. It performs no I/O.
///
/// A worker that starts reads the newest record of pauses before it consumes requests. It waits only until a deadline,
/// because a broken stream must not stop delivery. A worker that has read a record keeps its pauses while the stream is
/// unavailable. It ends each pause by its own clock.
struct PauseState: Sendable {
    /// Maximum time that a worker waits for the first record before it consumes requests.
    static let firstRecordSecondsMax = 30
    /// Maximum time between two checks for ended pauses. Bounds the delay of an end after the wall clock is set.
    static let checkSecondsMax = 60

    enum State: Equatable, Sendable {
        /// The wait for the first record. To: known, unavailable.
        case waiting(until: MonotonicTime)
        /// The worker has applied a record. An ended pause stays ended, even if the wall clock is set back. To: known.
        ///
        /// - Parameter inForce: the pauses of the record that have not ended.
        case known(PauseRecord, inForce: [FleetPause])
        /// The worker consumes requests without a record. To: known.
        case unavailable
    }

    enum Event: Sendable {
        case recordRead(PauseRecord)
        /// The consumer of the stream has started.
        case attached
        case detached(reason: String)
        case timerFired
    }

    enum Action: Equatable, Sendable {
        /// A new pause of the fleet, or a pause with another note or planned end.
        case pause(PauseScope, PauseNote)
        /// The end of a pause of the fleet. The scope stays paused while an operator of this worker pauses it.
        case resume(PauseScope)
        /// The permission to consume requests. Follows the pauses of the first record, or the deadline. Occurs once.
        case mayConsume
        /// A timer that reports `timerFired` at this time and replaces the previous timer; nil to cancel the timer.
        case setTimer(MonotonicTime?)
        /// A report to the fleet, because the revision, the pauses or the permission to consume have changed.
        case report
    }

    private(set) var state: State
    /// The reason for the missing connection to the stream; nil while the consumer is attached.
    private(set) var detachedReason: String? = "not connected yet"
    private var timer: MonotonicTime?

    /// - Parameter startedAt: the start of the worker.
    init(startedAt: MonotonicTime) { state = .waiting(until: startedAt + .seconds(Self.firstRecordSecondsMax)) }

    /// Returns the timer for the deadline of the first record.
    mutating func start() -> [Action] {
        guard case .waiting(let until) = state else { return [] }
        timer = until
        return [.setTimer(until)]
    }

    mutating func handle(_ event: Event, now: Now) -> [Action] {
        switch event {
        case .recordRead(let record): return recordRead(record, now)
        case .attached:
            detachedReason = nil
            return []
        case .detached(let reason):
            detachedReason = reason
            return []
        case .timerFired:
            timer = nil
            return timerFired(now)
        }
    }

    private mutating func recordRead(_ record: PauseRecord, _ now: Now) -> [Action] {
        if let revision, !record.revision.supersedes(revision) { return [] }
        let isFirst: Bool
        if case .waiting = state { isFirst = true } else { isFirst = false }
        let former = inForce
        let pauses = record.inForce(at: now.unixMilliseconds)
        state = .known(record, inForce: pauses)
        let changes = Self.changes(from: former, to: pauses)
        return changes + (isFirst ? [.mayConsume] : []) + [.report] + timerActions(now)
    }

    private mutating func timerFired(_ now: Now) -> [Action] {
        switch state {
        case .waiting(let until):
            guard now.monotonic >= until else { return timerActions(now) }
            state = .unavailable
            return [.mayConsume, .report]
        case .known(let record, let former):
            let pauses = former.filter { $0.isInForce(at: now.unixMilliseconds) }
            state = .known(record, inForce: pauses)
            let changes = Self.changes(from: former, to: pauses)
            return changes + (changes.isEmpty ? [] : [.report]) + timerActions(now)
        case .unavailable: return []
        }
    }

    /// Returns the ends of pauses, then the new and changed pauses.
    private static func changes(from former: [FleetPause], to pauses: [FleetPause]) -> [Action] {
        let ended = former.filter { old in !pauses.contains { $0.scope == old.scope } }
        let new = pauses.filter { pause in
            !former.contains { ($0.scope, $0.note, $0.until) == (pause.scope, pause.note, pause.until) }
        }
        return ended.map { .resume($0.scope) } + new.map { .pause($0.scope, $0.note) }
    }

    private mutating func timerActions(_ now: Now) -> [Action] {
        let deadline = deadline(now)
        guard deadline != timer else { return [] }
        timer = deadline
        return [.setTimer(deadline)]
    }

    private func deadline(_ now: Now) -> MonotonicTime? {
        switch state {
        case .waiting(let until): return until
        case .known(_, let pauses):
            guard let end = pauses.compactMap(\.until).min() else { return nil }
            let left = Duration.milliseconds(max(0, end - now.unixMilliseconds))
            return now.monotonic + min(left, .seconds(Self.checkSecondsMax))
        case .unavailable: return nil
        }
    }
}

extension PauseState {
    /// The revision of the record that the worker has applied; nil before the first record.
    var revision: PauseRevision? {
        if case .known(let record, _) = state { record.revision } else { nil }
    }

    /// The pauses of the fleet that are in force.
    var inForce: [FleetPause] {
        if case .known(_, let pauses) = state { pauses } else { [] }
    }

    /// Whether the worker may consume requests.
    var mayConsume: Bool {
        if case .waiting = state { false } else { true }
    }

    /// The reason why the pauses of the fleet may be incomplete. nil if the worker has applied a record and reads the
    /// stream.
    var problem: String? {
        let cause = detachedReason ?? "the stream contains no record; run: martlet topology apply"
        switch state {
        case .waiting: return "waiting for the pauses of the fleet: \(cause)"
        case .unavailable: return "the pauses of the fleet are unknown: \(cause)"
        case .known(let record, _):
            return detachedReason.map {
                "the pauses of the fleet may be older than the newest, revision \(record.revision.number): \($0)"
            }
        }
    }
}
