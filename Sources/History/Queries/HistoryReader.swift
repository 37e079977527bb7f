package import ControlProtocol
package import Crypto
package import Registrations
package import SQLite

/// The queries of a history. Used on one thread, within transactions of the index, which is open for reading.
package final class HistoryReader {
    private let folder: HistoryFolder
    private let keys: RegistrationKeys
    private let hasher: HistoryHasher
    private let index: IndexReader
    private var segments: [Int: SegmentReader] = [:]

    /// - Parameter file: the index.
    package init(_ file: SQLiteFile, _ folder: HistoryFolder, _ keys: RegistrationKeys) throws(SQLiteError) {
        (self.folder, self.keys) = (folder, keys)
        hasher = try SQLiteError.withCrypto { () throws(CryptoError) in try HistoryHasher(keys) }
        index = try IndexReader(file)
    }

    // As in `HistoryWriter`.
    deinit { for segment in segments.values { segment.close() } }

    /// Opens new segments and closes deleted ones. Returns the open segments, newest first. Segments that cannot be
    /// opened are omitted, so that the others can still be read.
    private func refreshedSegments() throws(SQLiteError) -> [SegmentReader] {
        let numbers = folder.segmentNumbers
        let known = Set(numbers)
        for (number, segment) in segments where !known.contains(number) {
            segment.close()
            segments[number] = nil
        }
        for number in numbers where segments[number] == nil {
            segments[number] = try? SegmentReader(folder, number, keys)
        }
        try index.refresh()
        for segment in segments.values { try segment.refresh() }
        return segments.values.sorted { $0.number > $1.number }
    }

    /// Returns the offset of the next message that will be indexed; nil if none was indexed yet.
    package func nextOffset() throws(SQLiteError) -> Int64? { try index.nextOffset() }

    /// Returns the rows of a query, newest first. A request has a row for each result. A wait has a row only if it is
    /// the newest line of its request.
    ///
    /// - Parameter before: the position behind which the page begins; nil for the first page.
    package func page(
        _ query: HistoryQuery, before: HistoryPosition? = nil, limit: Int = 50
    ) throws(SQLiteError) -> HistoryPage {
        let limit = min(max(1, limit), HistoryLimits.pageRowsMax)
        let segments = try refreshedSegments()
        var page = HistoryPage()
        var scanned = 0
        for segment in segments where before.map({ segment.number <= $0.segment }) ?? true {
            var row = before.map { segment.number == $0.segment ? $0.row : Int64.max } ?? Int64.max
            while true {
                let found = try segment.rows(query, before: row, limit: limit + 1, hasher)
                for candidate in found {
                    row = candidate.position.row
                    guard try isShown(candidate, segments) else { continue }
                    guard page.rows.count < limit else {
                        page.next = page.rows.last?.position
                        return page
                    }
                    page.rows.append(candidate)
                }
                scanned += found.count
                guard found.count > limit, !query.isWhole else { break }
                guard scanned < HistoryLimits.scannedRowsMax else {
                    page.next = HistoryPosition(segment: segment.number, row: row)
                    return page
                }
            }
        }
        return page
    }

    /// Returns whether a row is a result, or a wait that is the newest line of its request.
    private func isShown(_ row: HistoryRow, _ segments: [SegmentReader]) throws(SQLiteError) -> Bool {
        guard case .wait(let wait, _) = row.line else { return true }
        for segment in segments {
            guard let newest = try segment.lines(of: wait.id, limit: 1).first else { continue }
            return newest.position == row.position
        }
        return true
    }

    /// Returns the lines with the id of the row at a position, at most `HistoryLimits.linesPerRequestMax`. Returns only
    /// the row if it has no id, and no lines if there is no such row.
    package func lines(at position: HistoryPosition) throws(SQLiteError) -> [RequestLine] {
        let segments = try refreshedSegments()
        guard let segment = segments.first(where: { $0.number == position.segment }),
            let row = try segment.line(position.row)
        else { return [] }
        guard let id = row.line.id else { return [row.line] }
        return try lines(of: id, segments)
    }

    /// Returns the lines of the requests with an id, at most `HistoryLimits.linesPerRequestMax`.
    package func lines(of id: UUIDValue) throws(SQLiteError) -> [RequestLine] {
        try lines(of: id, try refreshedSegments())
    }

    private func lines(of id: UUIDValue, _ segments: [SegmentReader]) throws(SQLiteError) -> [RequestLine] {
        var lines: [RequestLine] = []
        for segment in segments where lines.count < HistoryLimits.linesPerRequestMax {
            lines += try segment.lines(of: id, limit: HistoryLimits.linesPerRequestMax - lines.count).map(\.line)
        }
        return lines
    }

    /// Returns the gaps that may hide lines of a time range.
    ///
    /// - Parameters:
    ///   - range: UNIX milliseconds.
    ///   - now: UNIX milliseconds.
    package func gaps(in range: ClosedRange<Int64>, at now: Int64) throws(SQLiteError) -> [HistoryGap] {
        try index.gaps(in: range, at: now)
    }

    /// Returns the groups of dead letters. The group with the newest dead letter is the first.
    package func deadLetterGroups(
        at now: Int64, limit: Int = HistoryLimits.pageRowsMax
    ) throws(SQLiteError) -> [DeadLetterGroup] {
        try index.groups(at: now, limit: min(max(1, limit), HistoryLimits.pageRowsMax))
    }

    /// Returns the newest samples of a group.
    package func samples(of group: Int64, limit: Int = 20) throws(SQLiteError) -> [JournalSample] {
        let limit = min(max(1, limit), HistoryLimits.pageRowsMax)
        var samples: [JournalSample] = []
        for segment in try refreshedSegments() where samples.count < limit {
            samples += try segment.samples(of: group, limit: limit - samples.count)
        }
        return samples
    }

    /// Returns the figures of each app in the last hour.
    ///
    /// - Parameter now: UNIX milliseconds.
    package func apps(at now: Int64) throws(SQLiteError) -> [AppFigures] {
        try index.refresh()
        return try index.apps(since: now - 3_600_000)
    }

    /// Returns the requests that wait, by code and app, the largest number first.
    package func openWaits(limit: Int = HistoryLimits.pageRowsMax) throws(SQLiteError) -> [OpenWaits] {
        try index.refresh()
        return try index.waits(limit: min(max(1, limit), HistoryLimits.pageRowsMax))
    }
}

extension HistoryQuery {
    /// Whether a page reads each segment only once.
    fileprivate var isWhole: Bool {
        switch self {
        case .id: true
        case .newest, .token, .user, .code: false
        }
    }
}
