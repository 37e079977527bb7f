import Testing

@testable import History

/// The decisions to begin a segment and to delete segments.
@Suite struct HistoryRetentionTests {
    private static let segments = (1...4).map {
        SegmentSummary(number: $0, rows: 10, bytes: 100, firstAt: Int64($0) * 1000, lastAt: Int64($0) * 1000 + 900)
    }

    private static func deleted(
        _ segments: [SegmentSummary] = segments, free: Int64? = nil, at now: Int64 = 5000,
        _ change: (inout HistoryLimits) -> Void = { _ in }
    ) -> HistoryRetention {
        var limits = HistoryLimits()
        change(&limits)
        return HistoryRetention(segments, free.map { DiskSpace(freeBytes: $0, totalBytes: 5000) }, at: now, limits)
    }

    @Test func segmentsOfTheRetentionTimeAreKept() {
        #expect(Self.deleted().deleted == [])
        #expect(Self.deleted(at: 4900) { $0.retentionMilliseconds = 3000 }.deleted == [])
        #expect(Self.deleted(at: 4901) { $0.retentionMilliseconds = 3000 }.deleted == [1])
        #expect(Self.deleted(at: 1_000_000) { $0.retentionMilliseconds = 3000 }.deleted == [1, 2, 3])
    }

    @Test func theOldestSegmentsBeyondTheMaximumSizeAreDeleted() {
        #expect(Self.deleted { $0.bytesMax = 400 }.deleted == [])
        #expect(Self.deleted { $0.bytesMax = 399 }.deleted == [1])
        #expect(Self.deleted { $0.bytesMax = 0 }.deleted == [1, 2, 3])
    }

    @Test func aFullDiskDeletesEarlyAndThenStopsIndexing() {
        #expect(Self.deleted(free: 500).deleted == [])
        #expect(Self.deleted(free: 499).deleted == [1])
        #expect(!Self.deleted(free: 200).isDiskFull)
        #expect(Self.deleted(free: 200).deleted == [1, 2, 3])
        #expect(Self.deleted(free: 199).isDiskFull)
    }

    @Test func aDamagedSegmentIsAsOldAsTheNextOne() {
        var segments = Self.segments
        segments[0].lastAt = nil
        #expect(Self.deleted(segments, at: 4901) { $0.retentionMilliseconds = 3000 }.deleted == [])
        #expect(Self.deleted(segments, at: 5901) { $0.retentionMilliseconds = 3000 }.deleted == [1, 2])
    }

    @Test func aSegmentIsFullByRowsBytesOrAge() {
        let segment = Self.segments[0]
        func isFull(_ now: Int64, _ change: (inout HistoryLimits) -> Void) -> Bool {
            var limits = HistoryLimits()
            change(&limits)
            return segment.isFull(at: now, limits)
        }
        #expect(!isFull(2000) { _ in })
        #expect(isFull(2000) { $0.segmentRowsMax = 10 })
        #expect(!isFull(2000) { $0.segmentRowsMax = 11 })
        #expect(isFull(2000) { $0.segmentBytesMax = 100 })
        #expect(!isFull(2000) { $0.segmentBytesMax = 101 })
        #expect(isFull(2000) { $0.segmentMillisecondsMax = 1000 })
        #expect(!isFull(1999) { $0.segmentMillisecondsMax = 1000 })
    }
}
