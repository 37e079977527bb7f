import AMQP

/// The search for the newest record of pauses in a stream whose last messages may be no records.
///
/// Pure. The search begins at the last chunk. If the chunk contains no record, the search continues before the chunk,
/// in growing steps, and ends at the first message of the stream.
struct RecordSearch: Sendable {
    /// The time without a record after which the messages from a position are considered read.
    static let quietMilliseconds: Int64 = 500
    /// The number of messages by which the first step goes back.
    static let stepMin: Int64 = 64
    /// The factor between two steps.
    static let growth: Int64 = 8

    private var position = StreamPosition.last
    private var step = Self.stepMin
    /// The offset of the first message that was read from the position.
    private var first: Int64?
    private var hasRecord = false
    private var continues = false

    /// Whether messages, but no record, were read from the position.
    var isFruitless: Bool { first != nil && !hasRecord }

    /// Returns the position from which the reader begins. After an interruption, the search begins again at the last
    /// chunk.
    mutating func begin() -> StreamPosition {
        if !continues { (position, step) = (.last, Self.stepMin) }
        (first, hasRecord, continues) = (nil, false, false)
        return position
    }

    mutating func messageRead(at offset: Int64, isRecord: Bool) {
        first = first ?? offset
        hasRecord = hasRecord || isRecord
    }

    /// Moves the position back. Returns whether to read from it; false if a record was read, or if the stream has no
    /// earlier message.
    mutating func continueBefore() -> Bool {
        guard isFruitless, let first, first > 0, position != .first else {
            position = .last
            return false
        }
        position = first > step ? .offset(first - step) : .first
        step *= Self.growth
        continues = true
        return true
    }
}
