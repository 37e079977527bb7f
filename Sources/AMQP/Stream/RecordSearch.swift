/// The search for the newest record in a stream whose last messages may be no records.
///
/// Pure. The search begins at the last chunk. If the chunk contains no record, the search continues before the chunk, in
/// growing steps, and ends at the first message of the stream.
package struct RecordSearch: Sendable {
    /// The time after which the last chunk, whose end is unknown, is considered read.
    package static let quietMilliseconds: Int64 = 500
    /// The number of messages by which the first step goes back.
    package static let stepMin: Int64 = 64
    /// The longest step.
    private static let stepMax: Int64 = 1 << 60
    /// The factor between two steps.
    package static let growth: Int64 = 8

    private var position = StreamPosition.last
    private var step = Self.stepMin
    /// The offset from which earlier positions were read; nil for the last chunk.
    private var end: Int64?
    /// The offsets of the first and the newest message that were read from the position.
    private var first: Int64?
    private var newest: Int64?
    private var hasRecord = false
    private var continues = false
    /// Whether the search has read the whole stream and found no record.
    package private(set) var isExhausted = false

    package init() {}

    /// Returns the position from which the reader begins. After an interruption, the search begins again at the last
    /// chunk.
    package mutating func begin() -> StreamPosition {
        if !continues { (position, step, end) = (.last, Self.stepMin, nil) }
        (first, newest, hasRecord, continues, isExhausted) = (nil, nil, false, false, false)
        return position
    }

    package mutating func messageRead(at offset: Int64, isRecord: Bool) {
        first = first ?? offset
        newest = offset
        hasRecord = hasRecord || isRecord
        if isRecord { isExhausted = false }
    }

    /// Whether a record was found, and each message behind it up to the end of the position was read. The end of the
    /// last chunk is unknown, so a newer record may follow there.
    package var isComplete: Bool {
        guard let newest, hasRecord else { return false }
        return newest >= (end ?? 0) - 1
    }

    /// The wait before the search continues; nil if it has ended, or if a record may follow. The caller waits once,
    /// also if further messages arrive, and then calls `continueBefore`.
    package var waitMilliseconds: Int64? {
        guard let newest, !hasRecord, !isExhausted else { return nil }
        guard let end else { return Self.quietMilliseconds }
        return newest >= end - 1 ? 0 : nil
    }

    /// Moves the position back. Returns whether to read from it; false if a record was read, or if the stream has no
    /// earlier message.
    package mutating func continueBefore() -> Bool {
        guard waitMilliseconds != nil, let first else { return false }
        guard first > 0, position != .first else {
            isExhausted = true
            return false
        }
        position = first > step ? .offset(first - step) : .first
        end = min(first, end ?? first)
        step = min(step, Self.stepMax / Self.growth) * Self.growth
        continues = true
        return true
    }
}
