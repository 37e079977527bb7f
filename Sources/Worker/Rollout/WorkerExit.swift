/// How a worker ends. The raw value is the exit status of the process.
package enum WorkerExit: Int32, Sendable {
    /// Every delivery is settled.
    case success = 0
    /// The worker cannot start, or has no lane left.
    case failed = 1
    /// Deliveries were unsettled at the drain deadline. The broker delivers them again.
    case timedOut = 4
    /// A second signal, SIGINT, ended the drain.
    case interrupted = 130
    /// A second signal, SIGTERM, ended the drain.
    case terminated = 143
}
