/// The decision which segments to delete, and whether indexing continues.
package struct HistoryRetention: Sendable, Hashable {
    /// The numbers of the segments to delete, oldest first.
    package private(set) var deleted: [Int] = []
    /// Whether the disk has too little space even after the deletions.
    package private(set) var isDiskFull = false

    /// - Parameters:
    ///   - segments: all segments, oldest first. The last one is the current segment, which is kept.
    ///   - space: the space of the disk; nil if unknown.
    ///   - now: UNIX milliseconds.
    package init(_ segments: [SegmentSummary], _ space: DiskSpace?, at now: Int64, _ limits: HistoryLimits) {
        var total = segments.reduce(0) { $0 + $1.bytes }
        var missing = space?.missingBytes(limits) ?? 0
        for (place, segment) in segments.dropLast().enumerated() {
            // A segment without times, such as a damaged one, is at least as old as the next one.
            let lastAt = segments[place...].lazy.compactMap(\.lastAt).first
            let isExpired = lastAt.map { now - $0 > limits.retentionMilliseconds } ?? false
            guard isExpired || total > limits.bytesMax || missing > 0 else { break }
            deleted.append(segment.number)
            total -= segment.bytes
            missing -= segment.bytes
        }
        isDiskFull = missing > 0
    }
}
