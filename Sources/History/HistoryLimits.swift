/// Limits of the history.
package struct HistoryLimits: Sendable, Hashable {
    /// Maximum number of rows of a segment.
    package var segmentRowsMax = 1_000_000
    /// The size at which the next batch begins a new segment.
    package var segmentBytesMax: Int64 = 256 << 20
    /// Maximum time from the first row of a segment to its last.
    package var segmentMillisecondsMax: Int64 = 6 * 3_600_000
    /// Time for which segments are kept.
    package var retentionMilliseconds: Int64 = 7 * 86_400_000
    /// Maximum size of all segments. The current segment counts, but is not deleted.
    package var bytesMax: Int64 = 20 << 30
    /// The free share of the disk, in percent, below which segments are deleted early. Without a closed segment,
    /// indexing stops.
    package var freePercentMin: Int64 = 10
    /// Time for which the counts of minutes, gaps and tombstones are kept.
    package var countsMilliseconds: Int64 = 90 * 86_400_000

    package init() {}

    /// Maximum number of different words, such as apps and codes, of a file. Further words count as ``otherWord``.
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
    /// Maximum size of the members of a result that no column holds.
    static let detailsBytesMax = 8 << 10
    /// Maximum number of rows in a page.
    package static let pageRowsMax = 500
    /// Maximum number of lines that the steps of one request use.
    package static let linesPerRequestMax = 200
    /// Maximum number of rows that a query with a filter reads.
    static let scannedRowsMax = 20_000
}
