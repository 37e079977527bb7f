/// The size and times of a segment.
package struct SegmentSummary: Sendable, Hashable {
    package var number: Int
    package var rows: Int
    /// The size of the file and its WAL.
    package var bytes: Int64
    /// The times of indexing of the first and last rows, in UNIX milliseconds; nil without rows, and for a damaged
    /// segment.
    package var firstAt: Int64?
    package var lastAt: Int64?

    /// Returns whether the next transaction must begin a new segment.
    ///
    /// - Parameter now: UNIX milliseconds.
    func isFull(at now: Int64, _ limits: HistoryLimits) -> Bool {
        guard rows > 0 else { return false }
        let age = firstAt.map { now - $0 } ?? 0
        return rows >= limits.segmentRowsMax || bytes >= limits.segmentBytesMax || age >= limits.segmentMillisecondsMax
    }
}
