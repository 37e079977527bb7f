package import Crypto

/// The last known state of one process of a worker.
package struct JournalBoot: Sendable, Hashable {
    package enum State: Int, Sendable {
        case running = 0
        /// A process that has sent its last batch.
        case ended = 1
        /// A process that another process replaced without a last batch.
        case killed = 2
    }

    package var id: UUIDValue
    package var worker: String
    /// The number of the last batch.
    package var sequence: Int
    /// The latest time of a batch, by the worker's clock, in UNIX milliseconds.
    package var lastAt: Int64
    package var state: State
}
