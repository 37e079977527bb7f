import Registrations

/// Limits of the messages of fleet control. Readers refuse messages that exceed a limit.
package enum FleetLimits {
    /// Maximum size of the name of a worker.
    package static let workerBytesMax = 256
    /// Maximum size of the name of an operator.
    package static let byBytesMax = 200
    /// Maximum size of the reason for a command or a pause.
    package static let whyBytesMax = 500
    /// Maximum size of the description of a scope.
    package static let scopeBytesMax = 300
    /// Maximum size of the description of a change.
    package static let changeBytesMax = scopeBytesMax + 20
    /// Maximum size of the name of an action.
    package static let actionBytesMax = 64
    /// Maximum size of the name of a queue (AMQP 0-9-1, short string).
    package static let queueBytesMax = 255
    /// Maximum number of breakers in a reply.
    package static let breakersMax = 1 << 20
    /// Maximum size of the sentence in a reply.
    package static let sentenceBytesMax = 1000
    /// Maximum size of a command in a record of the audit, in bytes. A filter alone can have 4,096 bytes.
    package static let commandLineBytesMax = 6000

    /// Maximum number of pauses in a record.
    package static let pausesMax = 64
    /// Maximum time from the start of a pause to its end.
    package static let pauseMillisecondsMax: Int64 = 30 * 24 * 3_600_000
    /// Maximum number of a revision or report. Larger numbers may be inexact as floating-point numbers.
    package static let numberMax = 1 << 53
    /// Maximum number of workers in a command.
    package static let workersMax = 1000
    /// Maximum time for which a command requests a report each second.
    package static let reportSecondsMax = 60
    /// Maximum number of elements of all lists in a report.
    package static let reportElementsMax = 1000
    /// Maximum number of consumers in a report.
    package static let consumersMax = 1 << 20

    /// Maximum size of a record of pauses.
    package static let recordBytesMax = 64 << 10
    package static let commandBytesMax = 64 << 10
    package static let reportBytesMax = 16 << 10
    package static let replyBytesMax = 256 << 10
    /// Maximum size of the verb of a record of the audit.
    package static let verbBytesMax = 32
    package static let auditBytesMax = 24 << 10

    /// The valid times in UNIX milliseconds. A time in seconds is below the range, one in microseconds above it.
    package static let times = RegistrationLimits.times
}
