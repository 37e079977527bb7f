/// The result of a worker run. The raw value is the exit status of the process.
package enum WorkerExit: Int32, Sendable {
    /// Every delivery is settled.
    case success = 0
    /// The worker cannot start, or has no lane left.
    case failed = 1
    /// Some deliveries were unsettled at the drain deadline. The broker redelivers them.
    case timedOut = 4
    /// A second signal, SIGINT, cut the drain short.
    case interrupted = 130
    /// A second signal, SIGTERM, cut the drain short.
    case terminated = 143
}
