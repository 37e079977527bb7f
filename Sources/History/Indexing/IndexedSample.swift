import ControlProtocol

/// A sample of a dead letter with its group, and the keys of the token and user in its body.
struct IndexedSample: Sendable, Hashable {
    var sample: JournalSample
    /// The number of the group.
    var group: Int64
    var token: HistoryKey?
    var user: HistoryKey?
}
