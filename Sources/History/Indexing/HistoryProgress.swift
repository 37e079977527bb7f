/// The state of indexing after a transaction.
package struct HistoryProgress: Sendable, Hashable {
    /// The offset of the next message; nil if no message was indexed yet.
    package var nextOffset: Int64?
    /// Whether the disk has too little space. Then no message was indexed.
    package var isDiskFull = false
    /// The number of rows that the transaction stored.
    package var rows = 0
    /// The time of the last batch of the transaction, by the worker's clock, in UNIX milliseconds; nil without a batch.
    package var lastBatchAt: Int64?
    /// The numbers of the segments that were deleted.
    package var deletedSegments: [Int] = []
}
