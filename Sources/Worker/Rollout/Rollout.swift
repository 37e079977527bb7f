import ControlProtocol
import EventLoop

/// A state machine that decides which lanes are in force, from the start of a worker to its exit. It performs no I/O.
///
/// Each rollout of a configuration version creates a generation of lanes. The new generation starts beside the current
/// generation and takes over once ready. The current generation then stops consuming, settles its deliveries and ends.
/// Every change of a lane setting takes effect in this way.
struct Rollout<Version: Equatable & Sendable>: Sendable {
    enum State: Equatable, Sendable {
        /// The wait, before the start, for the pauses of the fleet. To: new of a newer version, awaitingTopology,
        /// stopped.
        case new(next: Generation)
        /// The wait, before any lane has started, until the broker is reachable and has the topology. To:
        /// awaitingTopology of a newer version, steady, stopped.
        case awaitingTopology(next: Generation)
        /// One generation in force, and no change in progress. To: checking, stopping, stopped.
        case steady(current: Generation)
        /// The check of the next generation's topology. To: warming, retrying, steady, checking, stopping, stopped.
        case checking(current: Generation, next: Generation)
        /// The start of the next generation. To: steady, checking, retrying, stopping, stopped.
        case warming(current: Generation, next: Generation, until: MonotonicTime)
        /// The delay after a `temporary` or `notReady` obstacle, before another attempt. To: checking, steady,
        /// stopping, stopped.
        case retrying(current: Generation, next: Version, at: MonotonicTime)
        /// The drain of all generations, until their last thread ends. To: stopped.
        ///
        /// - Parameters:
        ///   - undrained: the number of lanes that may have unacknowledged deliveries.
        ///   - unfinished: the number of deliveries that the broker redelivers.
        ///   - until: the time at which the process exits even if threads have not ended.
        case stopping(undrained: Int, unfinished: Int, until: MonotonicTime)
        /// The exit of the process.
        case stopped(WorkerExit)
    }

    struct Announcement: Sendable {
        /// The generation that still consumes, and may process new requests with the previous version.
        let previous: Int
        let until: MonotonicTime
    }

    var state: State
    /// Generations that settle their deliveries, oldest first.
    var retired: [Int] = []
    /// A version that waits for the end of another change or of a retired generation; otherwise nil.
    var newest: Version?
    var announcement: Announcement?
    var delays = Outage()
    private var lastNumber: Int
    var timer: MonotonicTime?

    init(_ first: Generation) {
        state = .new(next: first)
        lastNumber = first.number
    }

    var phase: WorkerStatus.Phase {
        switch state {
        case .new, .awaitingTopology: .starting
        case .steady, .checking, .warming, .retrying: .running
        case .stopping, .stopped: .draining
        }
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
        let own: MonotonicTime? =
            switch state {
            case .warming(_, _, let time), .retrying(_, _, let time), .stopping(_, _, let time): time
            case .new, .awaitingTopology, .steady, .checking, .stopped: nil
            }
        guard let own, let announcement else { return own ?? announcement?.until }
        return min(own, announcement.until)
    }

    private mutating func respond(to event: Event, _ now: MonotonicTime) -> [Action] {
        switch event {
        case .processStarted: processStarted()
        case .versionRead(let version): versionRead(version)
        case .topologyChecked(let number, let obstacle): topologyChecked(number, obstacle, now)
        case .started(let number): started(number, now)
        case .startFailed(let number, let obstacle): startFailed(number, obstacle, now)
        case .readinessChanged(let number, let isReady, let lane): readinessChanged(number, isReady, lane, now)
        case .stoppedConsuming(let number): stoppedConsuming(number)
        case .laneDrained(let unfinished): laneDrained(unfinished)
        case .ended(let number): ended(number, now)
        case .timerFired: timerFired(now)
        case .signalled(let signal, let undrained, let seconds): signalled(signal, undrained, seconds, now)
        }
    }

    private mutating func processStarted() -> [Action] {
        guard case .new(let next) = state else { return [] }
        state = .awaitingTopology(next: next)
        return [.awaitTopology(next)]
    }

    mutating func newGeneration(_ version: Version) -> Generation {
        lastNumber += 1
        return Generation(number: lastNumber, version: version)
    }
}
