/// The exit of a worker. The raw value is the exit status of the process.
package enum WorkerExit: Int32, Sendable {
    /// An exit with every delivery settled.
    case success = 0
    /// A failed start, or the loss of all lanes.
    case failed = 1
    /// An exit at the drain deadline, with unacknowledged deliveries or a thread that has not ended. The broker
    /// redelivers the deliveries.
    case timedOut = 4
    /// An exit on a second signal before the end of the drain. The second signal is SIGINT.
    case interrupted = 130
    /// An exit on a second signal before the end of the drain. The second signal is SIGTERM.
    case terminated = 143
}
