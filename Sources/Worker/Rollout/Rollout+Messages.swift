import EventLoop

extension Rollout {
    /// The lanes of one attempt to put a version of the configuration in force.
    struct Generation: Equatable, Sendable {
        let number: Int
        let version: Version
        var isReady = false
    }

    enum Event: Sendable {
        /// The event loop of the process runs.
        case processStarted
        case versionRead(Version)
        /// The broker has all that the generation needs, or there is an obstacle.
        case topologyChecked(Int, Obstacle?)
        /// All lanes of the generation have threads.
        case started(Int)
        /// Some lanes of the generation may have threads.
        case startFailed(Int, Obstacle)
        /// - Parameter lane: the lane whose report changed the readiness of the generation.
        case readinessChanged(Int, isReady: Bool, lane: Int)
        /// No lane of the generation consumes any more.
        case stoppedConsuming(Int)
        /// A lane holds no deliveries any more, except unfinished ones, which the broker delivers again.
        case laneDrained(unfinished: Int)
        /// All threads of the generation have ended, and its channel commands.
        case ended(Int)
        case timerFired
        /// - Parameter undrained: lanes of all generations that may hold deliveries.
        case signalled(StopSignal, undrained: Int, drainDeadlineSeconds: Int)
    }

    enum Action: Equatable, Sendable {
        /// Reports `topologyChecked` once the broker has all that the generation needs. Ends an earlier wait.
        case awaitTopology(Generation)
        case checkTopology(Generation)
        case start(Generation)
        /// Checks progress, renews provider tokens and writes the log lines of each minute, from now to the exit.
        case superviseLanes
        case monitorQueues(Generation)
        /// The generation answers status requests and pauses from now on.
        case putInForce(Generation)
        /// Stops consuming, settles the deliveries, ends the lanes.
        case finish(Int)
        /// Removes a retired generation, which has ended.
        case remove(Int)
        /// Logs that the version of the generation in force is in effect.
        case announce
        case reportReadiness(lane: Int)
        /// Logs that the newest version waits for retired generations.
        case reportPostponement
        case reportDelay(Obstacle)
        case reject(Version, inForce: Version, Obstacle)
        case reportLanesWithoutThread(Obstacle)
        case notifyStopping
        /// Has all generations settle their deliveries and end.
        case drain(deadlineSeconds: Int)
        /// Reports `timerFired` at this time. Replaces the previous timer; nil ends it.
        case setTimer(MonotonicTime?)
        case exit(WorkerExit)
        /// Ends the process while lanes run.
        case abort(WorkerExit)
    }
}

/// A signal that stops a worker.
enum StopSignal: Sendable {
    case interrupt
    case terminate

    var exit: WorkerExit {
        switch self {
        case .interrupt: .interrupted
        case .terminate: .terminated
        }
    }
}

/// Why a generation is not put in force.
enum Obstacle: Error, Sendable, Hashable {
    /// Nothing is wrong with the configuration: try again.
    case temporary(String)
    case permanent(String)
    /// The lanes of the generation with this number are not ready in time.
    case notReady(Int)
}
