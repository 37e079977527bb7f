/// The settings of the journal, a stream of the results, waits and dead letters of all workers.
public struct JournalSettings: Sendable, Hashable {
    /// Whether the journal contains samples of dead letters, with their bodies.
    public var samplesDeadLetters = true
    /// The share of accepted results in the journal, from 0 to 1. All other results are in the journal.
    public var acceptedShare = 1.0

    public init() {}
}
