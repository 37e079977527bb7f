/// Limits of the history.
package struct HistoryLimits: Sendable, Hashable {
    /// The number of rows at which the next transaction begins a new segment.
    package var segmentRowsMax = 1_000_000
    /// The size at which the next transaction begins a new segment.
    package var segmentBytesMax: Int64 = 256 << 20
    /// The age of the first row at which the next transaction begins a new segment. Ages are by the time of indexing.
    package var segmentMillisecondsMax: Int64 = 6 * 3_600_000
    /// The age of the last row after which a closed segment is deleted.
    package var retentionMilliseconds: Int64 = 7 * 86_400_000
    /// The size of all segments above which the oldest closed segments are deleted. The current segment counts, but is
    /// not deleted.
    package var bytesMax: Int64 = 20 << 30
    /// The free share of the disk, in percent, below which closed segments are deleted early. If that does not suffice,
    /// indexing stops.
    package var freePercentMin: Int64 = 10
    /// Time for which the index keeps counts of results and dead letters, gaps and tombstones.
    package var countsMilliseconds: Int64 = 90 * 86_400_000

    package init() {}

    /// Maximum number of different words, such as apps and codes, of a file. Further words count as ``otherWord``, in
    /// addition to this number.
    static let wordsMax = 10_000
    static let otherWord = "(other)"
    /// Maximum number of groups of dead letters. Dead letters of further groups are in no group.
    static let groupsMax = 10_000
    /// Maximum number of processes of workers whose batches are tracked.
    static let bootsMax = 10_000
    /// Maximum number of gaps that are kept.
    static let gapsMax = 10_000
    /// Maximum number of waits without a result.
    static let openWaitsMax = 1_000_000
    /// Maximum number of tombstones.
    static let tombstonesMax = 100_000
    /// The size of the members without a column above which a line is stored without its history.
    static let detailsBytesMax = 8 << 10
    /// Maximum number of rows in a page.
    package static let pageRowsMax = 500
    /// Maximum number of lines that the steps of one request use.
    package static let linesPerRequestMax = 200
    /// The number of matching rows after which a page ends early. Also the maximum number of rows that a search for a
    /// part of a token reads in one segment.
    static let scannedRowsMax = 20_000
}
