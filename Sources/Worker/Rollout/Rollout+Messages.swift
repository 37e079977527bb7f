import EventLoop

extension Rollout {
    /// The lanes of one attempt to put a configuration version in force.
    struct Generation: Equatable, Sendable {
        let number: Int
        let version: Version
        var isReady = false
    }

    enum Event: Sendable {
        /// The process's event loop runs.
        case processStarted
        case versionRead(Version)
        /// The broker has everything that the generation needs, or there is an obstacle.
        case topologyChecked(Int, Obstacle?)
        /// All lanes of the generation have threads.
        case started(Int)
        /// Some lanes of the generation may have threads.
        case startFailed(Int, Obstacle)
        /// - Parameter lane: the lane whose report changed the readiness of the generation.
        case readinessChanged(Int, isReady: Bool, lane: Int)
        /// No lane of the generation consumes anymore.
        case stoppedConsuming(Int)
        /// A lane has drained. The broker redelivers the unfinished deliveries.
        case laneDrained(unfinished: Int)
        /// All threads of the generation have ended, and its channel commands are closed.
        case ended(Int)
        case timerFired
        /// - Parameter undrained: lanes of all generations that may hold deliveries.
        case signalled(StopSignal, undrained: Int, drainDeadlineSeconds: Int)
    }

    enum Action: Equatable, Sendable {
        /// Reports `topologyChecked` once the broker has everything that the generation needs. Cancels an earlier wait.
        case awaitTopology(Generation)
        case checkTopology(Generation)
        case start(Generation)
        /// Starts the checks of lanes, the renewal of provider tokens and the minute reports, until the exit.
        case superviseLanes
        case monitorQueues(Generation)
        /// From now on, the generation answers status requests and pauses.
        case putInForce(Generation)
        /// Stops consuming, settles the deliveries, ends the lanes.
        case finish(Int)
        /// Removes a retired generation, which has ended.
        case remove(Int)
        /// Logs that the version in force has taken effect.
        case announce
        case reportReadiness(lane: Int)
        /// Logs that the newest version waits for retired generations.
        case reportPostponement
        case reportDelay(Obstacle)
        case reject(Version, inForce: Version, Obstacle)
        case reportLanesWithoutThread(Obstacle)
        case notifyStopping
        /// Lets all generations settle their deliveries and end.
        case drain(deadlineSeconds: Int)
        /// Reports `timerFired` at this time. Replaces the previous timer; nil cancels it.
        case setTimer(MonotonicTime?)
        case exit(WorkerExit)
        /// Exits the process while lanes still run.
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

/// The reason why a generation is not put in force.
enum Obstacle: Error, Sendable, Hashable {
    /// An obstacle outside the configuration; the rollout retries.
    case temporary(String)
    case permanent(String)
    /// The lanes of this generation were not ready in time.
    case notReady(Int)
}
