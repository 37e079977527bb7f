/// Limits of the journal. Readers refuse batches and ignore lines that exceed a limit.
package enum JournalLimits {
    /// The size of the waiting lines at which a worker publishes a batch without a wait for the interval.
    package static let fullBatchBytes = 100 << 10
    /// Maximum size of a batch.
    package static let batchBytesMax = 128 << 10
    /// Maximum size of a line.
    package static let lineBytesMax = 32 << 10
    /// Maximum size of the lines of a lane that wait for their batch. Further lines are dropped.
    package static let waitingBytesMax = 4 << 20
    /// Maximum time from a line to its batch, unless the broker is away or refuses batches.
    package static let intervalSeconds = 5
    /// Maximum time from a line to its batch while a command requests reports.
    package static let watchedIntervalSeconds = 1

    /// Maximum size of an app's name.
    package static let appBytesMax = 255
    /// Maximum size of a device token, in digits.
    package static let tokenBytesMax = 512
    /// Maximum size of a user.
    package static let userBytesMax = 256
    /// Maximum size of a class or code.
    package static let codeBytesMax = 128
    /// Maximum size of a JSON pointer.
    package static let pathBytesMax = 1024
    /// Maximum number of attempts of a request.
    package static let attemptsMax = 1 << 20

    /// Maximum number of headers in a sample.
    package static let headersMax = 64
    /// Maximum size of a header's name or value.
    package static let headerBytesMax = 1024
    /// Maximum size of the body in a sample.
    package static let bodyBytesMax = 16 << 10
    /// Maximum number of samples in a minute for each class, code, app and path in a worker. A worker with more lanes
    /// may send one for each lane.
    package static let samplesPerMinuteMax = 5
}
