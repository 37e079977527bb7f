/// The progress of publishing a chunk's children.
///
/// Pure. If the queue refuses a child, later children may already be in the queue, and are published twice.
/// `unconfirmedMax` limits these duplicates.
struct ChunkProgress {
    static let unconfirmedMax = 64

    private let count: Int
    private var next = 0
    private(set) var unconfirmed = 0
    private var confirmedCount = 0
    /// The index of the first child whose publish ended without a confirm; nil if there is none.
    private(set) var firstMissing: Int?
    /// The index of the last child that was confirmed, or whose publish has an unknown outcome; nil if there is none.
    private var lastPublished: Int?
    private(set) var isStopped = false

    init(count: Int) { self.count = count }

    /// Returns the index of the next child, and counts the child as unconfirmed; nil if none may be published now.
    mutating func publishNext() -> Int? {
        guard !isStopped, next < count, unconfirmed < Self.unconfirmedMax else { return nil }
        unconfirmed += 1
        defer { next += 1 }
        return next
    }

    mutating func confirmed(_ index: Int) {
        unconfirmed -= 1
        confirmedCount += 1
        lastPublished = max(lastPublished ?? index, index)
    }

    /// Records that the publish of a child ended without a confirm. Prevents further publishes.
    ///
    /// - Parameter mayBePublished: Whether the child may be in its queue.
    mutating func missed(_ index: Int, mayBePublished: Bool) {
        unconfirmed -= 1
        firstMissing = min(firstMissing ?? index, index)
        if mayBePublished { lastPublished = max(lastPublished ?? index, index) }
        isStopped = true
    }

    /// Prevents further publishes.
    mutating func stop() { isStopped = true }

    /// Whether no publish is outstanding and no further child will be published.
    var isFinished: Bool { unconfirmed == 0 && (isStopped || next == count) }

    /// The number of children before the first child that must be published later. Valid once `isFinished`.
    var publishedCount: Int { firstMissing ?? next }

    /// The number of confirmed children behind the first child that must be published later. Valid once `isFinished`.
    var confirmedBehindCount: Int { firstMissing.map { confirmedCount - $0 } ?? 0 }

    /// Whether a child that must be published later may be in its queue already.
    var mayRepeat: Bool { firstMissing.map { lastPublished ?? -1 >= $0 } ?? false }
}
