public import Crypto

/// Remembers the ids that are being delivered and those that were, so that a message which the broker delivers again,
/// because its acknowledgement was lost, is not sent again.
///
/// `Tag` names a delivery at the broker.
public struct DuplicateMemory<Tag: Sendable>: Sendable {
    public enum Admission: Sendable, Hashable {
        /// Not seen before, or a later try of it: deliver it.
        case new
        /// Being delivered right now: a copy, to be settled together with it.
        case joined
        /// Delivered and told: acknowledge it.
        case finished
    }

    private enum Entry: Sendable {
        /// With the tags of further copies.
        case delivering(attempt: Int, copies: [Tag])
        case finished(attempt: Int)
    }

    /// Finished ids kept. Unacknowledged messages are at most the prefetch, so a few times that is enough.
    public let finishedMax: Int
    private var entries: [UUIDValue: Entry] = [:]
    private var finishedOrder: [UUIDValue] = []
    private var oldest = 0

    public init(finishedMax: Int = 4096) {
        self.finishedMax = max(1, finishedMax)
        entries.reserveCapacity(self.finishedMax + 1024)
    }

    /// - Parameter attempt: tries before this one; a message from a retry queue has one more than the original.
    public mutating func begin(_ id: UUIDValue, attempt: Int, tag: Tag) -> Admission {
        switch entries[id] {
        case .none:
            break
        case .delivering(let attempt, var copies):
            copies.append(tag)
            entries[id] = .delivering(attempt: attempt, copies: copies)
            return .joined
        case .finished(let last):
            if attempt <= last { return .finished }
        }
        entries[id] = .delivering(attempt: attempt, copies: [])
        return .new
    }

    /// It was told what became of this try. Returns the tags of the copies that joined it.
    public mutating func finish(_ id: UUIDValue) -> [Tag] {
        guard case .delivering(let attempt, let copies)? = entries[id] else { return [] }
        entries[id] = .finished(attempt: attempt)
        remember(id)
        return copies
    }

    /// It goes back to the queue untold. Returns the tags of the copies that joined it.
    public mutating func abandon(_ id: UUIDValue) -> [Tag] {
        guard case .delivering(_, let copies)? = entries[id] else { return [] }
        entries[id] = nil
        return copies
    }

    private mutating func remember(_ id: UUIDValue) {
        guard finishedOrder.count == finishedMax else { return finishedOrder.append(id) }
        let forgotten = finishedOrder[oldest]
        if forgotten != id, case .finished? = entries[forgotten] { entries[forgotten] = nil }
        finishedOrder[oldest] = id
        oldest = (oldest + 1) % finishedMax
    }
}
