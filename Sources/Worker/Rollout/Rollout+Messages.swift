import EventLoop

extension Rollout {
    /// The lanes of one attempt to put a configuration version in force.
    struct Generation: Equatable, Sendable {
        let number: Int
        let version: Version
        var isReady = false
    }

    enum Event: Sendable {
        /// The start of the control loop.
        case processStarted
        case versionRead(Version)
        /// The end of a topology check. The obstacle is nil if the broker has everything that the generation needs.
        case topologyChecked(Int, Obstacle?)
        /// The start of all lanes of the generation.
        case started(Int)
        /// The failed start of a generation, some of whose lanes may have threads.
        case startFailed(Int, Obstacle)
        /// A change of the generation's readiness.
        ///
        /// - Parameter lane: the lane whose report caused the change.
        case readinessChanged(Int, isReady: Bool, lane: Int)
        /// The end of consumption by all lanes of the generation, except stalled lanes.
        case stoppedConsuming(Int)
        /// The end of a lane's drain. The broker redelivers the unfinished deliveries.
        case laneDrained(unfinished: Int)
        /// The end of all threads and of the channel commands of the generation.
        case ended(Int)
        case timerFired
        /// A signal to stop.
        ///
        /// - Parameter undrained: the number of lanes, in all generations, that may have unacknowledged deliveries.
        case signalled(StopSignal, undrained: Int, drainDeadlineSeconds: Int)
    }

    enum Action: Equatable, Sendable {
        /// A wait until the broker has everything that the generation needs. The event `topologyChecked` reports the
        /// end of the wait. The wait replaces an earlier wait.
        case awaitTopology(Generation)
        case checkTopology(Generation)
        case start(Generation)
        /// The start of lane checks, token renewal and minute reports, which last until the exit.
        case superviseLanes
        case monitorQueues(Generation)
        /// The takeover by the generation. Status requests and pauses then refer to its lanes.
        case putInForce(Generation)
        /// The end of a generation, whose lanes stop consuming, settle their deliveries and end.
        case finish(Int)
        /// The removal of a retired generation, which has ended.
        case remove(Int)
        /// The log lines about the version in force: the reload, its certificates, and settings that need a restart.
        case announce
        case reportReadiness(lane: Int)
        /// The log line about a newest version that waits for retired generations.
        case reportPostponement
        case reportDelay(Obstacle)
        case reject(Version, inForce: Version, Obstacle)
        case reportLanesWithoutThread(Obstacle)
        case notifyStopping
        /// The drain of all generations, which settle their deliveries and end.
        case drain(deadlineSeconds: Int)
        /// A timer that reports `timerFired` at this time and replaces the previous timer; nil to cancel the timer.
        case setTimer(MonotonicTime?)
        case exit(WorkerExit)
        /// The immediate exit of the process, even if lanes still run.
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
    /// An obstacle outside the configuration. The rollout retries.
    case temporary(String)
    case permanent(String)
    /// Lanes that were not ready in time, with the number of their generation.
    case notReady(Int)
}
