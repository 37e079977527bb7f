import Delivery
import EventLoop

/// A state machine that decides when a worker publishes a batch of its journal, and counts lost lines. It performs no
/// I/O.
///
/// One batch is outstanding at a time. A batch that the broker certainly does not have counts its lines as dropped, and
/// the next batch has the same number. The number of a batch whose outcome is unknown is not used again, so a reader
/// sees a gap if the batch is lost.
struct JournalSchedule: Sendable {
    /// Maximum time from the arrival of a line to its batch, unless the broker is away or refuses batches.
    static let intervalMilliseconds: Int64 = 4500
    /// The same while a command `report` is in force.
    static let watchedIntervalMilliseconds: Int64 = 500
    /// Minimum time between two attempts while the connection is unavailable or refuses batches.
    static let retryMilliseconds: Int64 = 1000
    /// Maximum duration of a command `report`.
    static let watchSecondsMax = 60

    enum State: Equatable, Sendable {
        /// No journal is configured, or the journal has ended. To: collecting.
        case off
        /// No batch is outstanding. To: publishing, off.
        ///
        /// - Parameters:
        ///   - next: the time of the next batch; nil if no lines wait.
        ///   - retryAt: the earliest time of a batch after a failure; nil without a failure.
        case collecting(next: MonotonicTime?, retryAt: MonotonicTime?)
        /// - Parameter dropped: the number of dropped lines that the outstanding batch reports. To: collecting,
        ///   publishing, off.
        case publishing(dropped: Int, Purpose)
    }

    enum Purpose: Equatable, Sendable {
        case regular
        /// A batch after the drain of the lanes, which further batches follow.
        case rest
        /// The last batch, without lines.
        case end
    }

    enum Event: Equatable, Sendable {
        case started
        /// A lane has added lines to the queue, or has dropped lines.
        case linesAdded
        case timerFired
        /// A command `report`.
        case commanded(seconds: Int)
        case published(lines: Int)
        /// The broker does not have the batch.
        case failed(lines: Int)
        /// The broker may have the batch.
        case unconfirmed(lines: Int)
        /// The lanes have drained. All lines are published, and then the last batch.
        case drained
    }

    enum Action: Equatable, Sendable {
        /// A timer that reports `timerFired` at this time and replaces the previous timer; nil to cancel the timer.
        case setTimer(MonotonicTime?)
        /// A batch with the oldest lines of the queue, or the last batch, which has no lines.
        case publish(sequence: Int, dropped: Int, isLast: Bool)
        /// The last batch is published, or cannot be published.
        case ended
    }

    /// The amounts of lines in the process.
    struct Totals: Equatable, Sendable {
        var published = 0
        var dropped = 0
        /// Lines in batches whose outcome is unknown.
        var unconfirmed = 0
    }

    private(set) var state = State.off
    /// The number of the last batch that the broker has or may have; 0 before the first.
    private(set) var sequence = 0
    private(set) var totals = Totals()
    /// The number of dropped lines that no batch has reported.
    private var unreported = 0
    /// The number of lines that the queue has dropped, as far as they are in `totals`.
    private var queueDropped = 0
    private var watchedUntil: MonotonicTime?
    private var timer: MonotonicTime?

    /// Handles an event.
    ///
    /// - Parameters:
    ///   - amounts: the amounts in the queue.
    ///   - isReady: whether a batch would be sent immediately.
    mutating func handle(
        _ event: Event, _ amounts: JournalQueue.Amounts, isReady: Bool, now: MonotonicTime
    ) -> [Action] {
        countDrops(amounts)
        let actions = respond(to: event, amounts, isReady, now)
        guard deadline != timer else { return actions }
        timer = deadline
        // The timer first, because a publish may report its outcome immediately.
        return [.setTimer(deadline)] + actions
    }

    private mutating func countDrops(_ amounts: JournalQueue.Amounts) {
        let new = amounts.droppedCount - queueDropped
        queueDropped = amounts.droppedCount
        totals.dropped += new
        unreported += new
    }

    private var deadline: MonotonicTime? {
        guard case .collecting(let next?, let retryAt) = state else { return nil }
        return max(next, retryAt ?? next)
    }

    private mutating func respond(
        to event: Event, _ amounts: JournalQueue.Amounts, _ isReady: Bool, _ now: MonotonicTime
    ) -> [Action] {
        if case .timerFired = event { timer = nil }
        switch (state, event) {
        case (.off, .started):
            state = .collecting(next: nil, retryAt: nil)
            return collect(amounts, isReady, now)
        case (.off, .drained): return [.ended]
        case (.collecting, .linesAdded), (.collecting, .timerFired): return collect(amounts, isReady, now)
        case (.collecting(let next, let retryAt), .commanded(let seconds)):
            watch(seconds, now)
            state = .collecting(next: next.map { min($0, now + interval(now)) }, retryAt: retryAt)
            return collect(amounts, isReady, now)
        case (.publishing, .commanded(let seconds)):
            watch(seconds, now)
            return []
        case (.collecting, .drained): return publishRest(amounts, isReady)
        case (.publishing(let dropped, .regular), .drained):
            state = .publishing(dropped: dropped, .rest)
            return []
        case (.publishing(let dropped, let purpose), .published(let lines)):
            totals.published += lines
            return proceed(after: purpose, dropped: dropped, hasFailed: false, amounts, isReady, now)
        case (.publishing(let dropped, let purpose), .unconfirmed(let lines)):
            totals.unconfirmed += lines
            return proceed(after: purpose, dropped: dropped, hasFailed: true, amounts, isReady, now)
        case (.publishing(let dropped, let purpose), .failed(let lines)):
            sequence -= 1
            totals.dropped += lines
            unreported += dropped + lines
            return proceed(after: purpose, dropped: dropped, hasFailed: true, amounts, isReady, now)
        case (.off, .linesAdded), (.off, .timerFired), (.off, .commanded), (.off, .published), (.off, .failed),
            (.off, .unconfirmed), (.collecting, .started), (.collecting, .published), (.collecting, .failed),
            (.collecting, .unconfirmed), (.publishing, .started), (.publishing, .linesAdded),
            (.publishing, .timerFired), (.publishing, .drained):
            return []
        }
    }

    private mutating func watch(_ seconds: Int, _ now: MonotonicTime) {
        let end = now + .seconds(min(max(seconds, 0), Self.watchSecondsMax))
        watchedUntil = max(end, watchedUntil ?? end)
    }

    private func interval(_ now: MonotonicTime) -> Duration {
        let isWatched = watchedUntil.map { now < $0 } ?? false
        return .milliseconds(isWatched ? Self.watchedIntervalMilliseconds : Self.intervalMilliseconds)
    }

    /// Publishes a batch if it is due. Otherwise computes its time.
    private mutating func collect(
        _ amounts: JournalQueue.Amounts, _ isReady: Bool, _ now: MonotonicTime
    ) -> [Action] {
        guard case .collecting(let planned, let retryAt) = state else { return [] }
        guard amounts.byteCount > 0 || unreported > 0 else {
            state = .collecting(next: nil, retryAt: retryAt)
            return []
        }
        let next = planned ?? now + interval(now)
        let isDue = now >= next || amounts.byteCount >= JournalBuffer.chunkBytesMax
        guard isDue, retryAt.map({ now >= $0 }) ?? true else {
            state = .collecting(next: next, retryAt: retryAt)
            return []
        }
        guard isReady else {
            state = .collecting(next: next, retryAt: now + .milliseconds(Self.retryMilliseconds))
            return []
        }
        return publish(.regular)
    }

    private mutating func publish(_ purpose: Purpose) -> [Action] {
        sequence += 1
        state = .publishing(dropped: unreported, purpose)
        defer { unreported = 0 }
        return [.publish(sequence: sequence, dropped: unreported, isLast: purpose == .end)]
    }

    /// Publishes the remaining lines, or the last batch if no lines remain.
    private mutating func publishRest(_ amounts: JournalQueue.Amounts, _ isReady: Bool) -> [Action] {
        guard isReady else { return end() }
        return publish(amounts.byteCount > 0 ? .rest : .end)
    }

    private mutating func end() -> [Action] {
        state = .off
        return [.ended]
    }

    private mutating func proceed(
        after purpose: Purpose, dropped: Int, hasFailed: Bool, _ amounts: JournalQueue.Amounts, _ isReady: Bool,
        _ now: MonotonicTime
    ) -> [Action] {
        switch purpose {
        case .regular:
            let retryAt = hasFailed ? now + .milliseconds(Self.retryMilliseconds) : nil
            state = .collecting(next: nil, retryAt: retryAt)
            return collect(amounts, isReady, now)
        // The exit of the process does not wait for a broker that refuses batches.
        case .rest: return hasFailed ? end() : publishRest(amounts, isReady)
        case .end: return end()
        }
    }
}
