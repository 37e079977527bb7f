import ControlProtocol
import Crypto

/// The changes that the messages of one transaction cause.
struct HistoryChanges: Sendable {
    struct Minute: Sendable, Hashable {
        /// Minutes since 1970.
        var minute: Int64
        var app: String
        var outcome: Int
        var code: String
    }

    struct Group: Sendable {
        var cause: DeadLetterCause
        /// The counts by hour since 1970.
        var hours: [Int64: Int] = [:]
        var firstAt = Int64.max
        var lastAt = Int64.min

        var count: Int { hours.values.reduce(0, +) }
    }

    var lines: [IndexedLine] = []
    var samples: [IndexedSample] = []
    var minutes: [Minute: Int] = [:]
    /// The time of the last accepted push of each app.
    var accepted: [String: Int64] = [:]
    var groups: [Int64: Group] = [:]
    /// Requests that wait; nil for requests whose wait has ended.
    var waits: [UUIDValue: JournalWait?] = [:]
    var sequences: [JournalSequences.Change] = []
    /// The time of the last batch, in UNIX milliseconds.
    var lastBatchAt: Int64?
    var malformedBatches = 0
    var repeatedBatches = 0
    var ignoredLines = 0
    var erasedLines = 0
}
