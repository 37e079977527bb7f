/// The tries that a delivery has behind it, told by the headers of a message that came back from a retry queue.
public struct Attempts: Sendable, Hashable {
    /// Tries before this one that APNs has, or may have, processed.
    public var before: Int
    /// Whether one of them had an unknown outcome, or a worker may have sent it without telling.
    public var possibleDuplicate: Bool
    /// How often the message went through a retry queue, tries that were never sent included.
    public var rounds: Int

    public init(before: Int = 0, possibleDuplicate: Bool = false, rounds: Int = 0) {
        self.before = before
        self.possibleDuplicate = possibleDuplicate
        self.rounds = rounds
    }
}
