/// The publishes of a chunk's children and their confirms.
///
/// Pure. Few children are unconfirmed at the same time: if the queue is full, children behind the refused one may be in
/// the queue already, and are published again later.
struct ChunkProgress {
    static let unconfirmedMax = 64

    private let count: Int
    private var next = 0
    private(set) var unconfirmed = 0
    /// The first child that is not certainly in its queue; nil if there is none.
    private(set) var firstMissing: Int?
    /// The last child that is or may be in its queue; nil if there is none.
    private var lastPublished: Int?
    private(set) var isStopped = false

    init(count: Int) { self.count = count }

    /// Returns the index of the child to publish now; nil if none may be published now.
    mutating func publishNext() -> Int? {
        guard !isStopped, next < count, unconfirmed < Self.unconfirmedMax else { return nil }
        unconfirmed += 1
        defer { next += 1 }
        return next
    }

    mutating func confirmed(_ index: Int) {
        unconfirmed -= 1
        lastPublished = max(lastPublished ?? index, index)
    }

    /// Records a child without a confirm, and stops.
    ///
    /// - Parameter mayBePublished: Whether the child may be in its queue.
    mutating func missed(_ index: Int, mayBePublished: Bool) {
        unconfirmed -= 1
        firstMissing = min(firstMissing ?? index, index)
        if mayBePublished { lastPublished = max(lastPublished ?? index, index) }
        isStopped = true
    }

    /// Publishes no further children.
    mutating func stop() { isStopped = true }

    /// Whether no confirm is outstanding and no child will be published.
    var isFinished: Bool { unconfirmed == 0 && (isStopped || next == count) }

    /// The number of children before the first child that must be published later.
    var publishedCount: Int { firstMissing ?? next }

    /// Whether a child that must be published later may be in its queue already.
    var mayRepeat: Bool { firstMissing.map { lastPublished ?? -1 >= $0 } ?? false }
}
