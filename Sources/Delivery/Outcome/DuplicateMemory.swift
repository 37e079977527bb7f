public import Crypto
public import EventLoop

/// Remembers the messages that are being delivered and those that were, so that one which the broker delivers again,
/// because its acknowledgement was lost, is not sent again.
///
/// `Tag` names a delivery at the broker.
public struct DuplicateMemory<Tag: Sendable>: Sendable {
    /// What makes two deliveries the same message: the id alone would not do, because producers of two apps may count
    /// alike.
    public struct Key: Sendable, Hashable {
        public var id: UUIDValue
        /// A hash of whom it is for.
        public var target: UInt64

        public init(id: UUIDValue, target: UInt64) {
            self.id = id
            self.target = target
        }
    }

    public enum Admission: Sendable, Hashable {
        /// Not seen before, or back from a retry queue: deliver it.
        case new
        /// Being delivered right now: a copy, to be settled together with it.
        case joined
        /// Delivered and told: acknowledge it.
        case finished
    }

    private enum Entry: Sendable {
        /// With the tags of further copies.
        case delivering(round: Int, copies: [Tag])
        /// `place` is its place in the order of finishing.
        case finished(round: Int, at: MonotonicTime, place: Int)
    }

    /// Finished messages kept. Unacknowledged ones are at most the prefetch, so a few times that is enough.
    public let finishedMax: Int
    /// How long they are kept: a message of the same id later than that is a new one.
    public let rememberedSeconds: Int
    private var entries: [Key: Entry] = [:]
    private var finishedOrder: [Key] = []
    private var oldest = 0

    public init(finishedMax: Int = 4096, rememberedSeconds: Int = 900) {
        self.finishedMax = max(1, finishedMax)
        self.rememberedSeconds = rememberedSeconds
        entries.reserveCapacity(self.finishedMax + 1024)
    }

    /// - Parameter round: how often the message went through a retry queue. One that comes back from there has one more
    ///   than the delivery that sent it there.
    public mutating func begin(_ key: Key, round: Int, tag: Tag, now: MonotonicTime) -> Admission {
        switch entries[key] {
        case .none:
            break
        case .delivering(let round, var copies):
            copies.append(tag)
            entries[key] = .delivering(round: round, copies: copies)
            return .joined
        case .finished(let last, let time, _):
            if round <= last, now < time + .seconds(rememberedSeconds) { return .finished }
        }
        entries[key] = .delivering(round: round, copies: [])
        return .new
    }

    /// It was told what became of this delivery. Returns the tags of the copies that joined it.
    public mutating func finish(_ key: Key, now: MonotonicTime) -> [Tag] {
        guard case .delivering(let round, let copies)? = entries[key] else { return [] }
        entries[key] = .finished(round: round, at: now, place: remember(key))
        return copies
    }

    /// It goes back to the queue untold. Returns the tags of the copies that joined it.
    public mutating func abandon(_ key: Key) -> [Tag] {
        guard case .delivering(_, let copies)? = entries[key] else { return [] }
        entries[key] = nil
        return copies
    }

    /// Takes the place of the oldest, which is forgotten unless it has finished again since.
    private mutating func remember(_ key: Key) -> Int {
        guard finishedOrder.count == finishedMax else {
            finishedOrder.append(key)
            return finishedOrder.count - 1
        }
        let place = oldest
        let forgotten = finishedOrder[place]
        if case .finished(_, _, place)? = entries[forgotten] { entries[forgotten] = nil }
        finishedOrder[place] = key
        oldest = (oldest + 1) % finishedMax
        return place
    }
}
