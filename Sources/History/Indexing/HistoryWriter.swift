import Crypto
import JSON
package import Registrations
package import SQLite

/// The writer of the index and the current segment of a history. Used on the thread of the index, within its
/// transactions.
///
/// Each file contains the offset behind the messages that it has stored, in the transaction of their rows. A segment
/// commits before the index. After a crash, indexing continues at the offset of the index, and messages before the
/// offset of the segments change the index alone. One transaction across both files (ATTACH) would not suffice: with
/// WAL, SQLite commits each file on its own (https://sqlite.org/lang_attach.html).
package final class HistoryWriter {
    /// Reads the space of the disk; nil if unknown.
    package typealias Space = @Sendable () -> DiskSpace?

    private let folder: HistoryFolder
    private let keys: RegistrationKeys
    private let limits: HistoryLimits
    private let space: Space
    private let hasher: HistoryHasher
    private let parser = JSONParser()
    private let index: IndexWriter
    private var segment: SegmentWriter?
    /// The closed segments in ascending order of their numbers.
    private var sealed: [SegmentSummary] = []
    /// The offset behind the messages whose rows are in segments; nil if there are none.
    private var segmentOffset: Int64?
    private var prunedAt: Int64 = 0
    /// A point at which a test ends the process.
    package var crashPoint: (Step) -> Void = { _ in }

    /// The steps of a transaction.
    package enum Step: String, Sendable, CaseIterable {
        case begun
        case segmentCreated
        case segmentCommitted
        case indexWritten
    }

    /// - Parameter file: the index.
    package init(
        _ file: SQLiteFile, _ folder: HistoryFolder, _ keys: RegistrationKeys, _ limits: HistoryLimits,
        space: @escaping Space
    ) throws(SQLiteError) {
        (self.folder, self.keys, self.limits, self.space) = (folder, keys, limits, space)
        hasher = try SQLiteError.withCrypto { () throws(CryptoError) in try HistoryHasher(keys) }
        index = try IndexWriter(file)
        try openSegments()
    }

    // The thread of the index releases the writer after the last job. No other code could close the segment on that
    // thread.
    deinit { segment?.close() }

    /// The offset of the next message; nil if no message was indexed yet.
    package var nextOffset: Int64? { index.nextOffset }

    private func openSegments() throws(SQLiteError) {
        (sealed, segmentOffset, segment) = ([], nil, nil)
        for number in folder.segmentNumbers {
            guard let writer = try openSegment(number) else { continue }
            if writer.stream == index.stream, let offset = writer.nextOffset {
                segmentOffset = max(offset, segmentOffset ?? offset)
            }
            if let last = segment {
                sealed.append(summary(of: last))
                last.close()
            }
            segment = writer
        }
        sealed.sort { $0.number < $1.number }
    }

    /// Opens a segment. Returns nil if the segment is damaged or has a newer version, or if its key is missing. Such a
    /// segment counts as closed, so that it does not prevent indexing.
    private func openSegment(_ number: Int) throws(SQLiteError) -> SegmentWriter? {
        do throws(SQLiteError) {
            return try SegmentWriter(folder, number, keys)
        } catch {
            switch error.code {
            case .corrupt, .foreign, .newerVersion, .missingKey, .statement, .value, .constraint:
                sealed.append(SegmentSummary(number: number, rows: 0, bytes: folder.bytes(ofSegment: number)))
                return nil
            case .unavailable, .cannotOpen, .missing, .inUse, .moved, .olderVersion, .full, .readOnly, .inputOutput,
                .busy, .memory, .interrupted, .queueFull, .closed:
                throw error
            }
        }
    }

    /// Reads the files again. Call it after a transaction that failed.
    package func reload() throws(SQLiteError) {
        segment?.close()
        segment = nil
        try index.reload()
        try openSegments()
    }

    private func summary(of writer: SegmentWriter) -> SegmentSummary {
        SegmentSummary(
            number: writer.number, rows: writer.rows, bytes: folder.bytes(ofSegment: writer.number),
            firstAt: writer.firstAt, lastAt: writer.lastAt)
    }

    /// Stores messages in the order of their offsets. Messages that were stored before have no effect.
    ///
    /// - Parameter now: UNIX milliseconds.
    /// - Throws: ``SQLiteError``. Call ``reload()`` before the next call.
    package func write(_ messages: [HistoryMessage], at now: Int64) throws(SQLiteError) -> HistoryProgress {
        crashPoint(.begun)
        var progress = try makeRoom(at: now)
        guard !progress.isDiskFull else { return progress }
        let first = index.nextOffset ?? 0
        let new = messages.filter { $0.offset >= first && $0.offset < .max }
        guard let last = new.map(\.offset).max() else { return progress }
        var fold = HistoryFold(index.sequences, index.tombstones, hasher, parser, at: now, limits)
        let stored = segmentOffset ?? 0
        for message in new {
            try SQLiteError.withCrypto { () throws(CryptoError) in
                try fold.add(message.body, storesRows: message.offset >= stored)
            }
        }
        if last >= stored {
            try store(fold.changes, nextOffset: last + 1, at: now)
            progress.rows = fold.changes.lines.count + fold.changes.samples.count
        }
        try index.store(fold.changes, fold.sequences, nextOffset: last + 1)
        if now / 60_000 != prunedAt / 60_000 {
            try index.prune(before: now - limits.countsMilliseconds, at: now)
            prunedAt = now
        }
        progress.nextOffset = index.nextOffset
        progress.lastBatchAt = fold.changes.lastBatchAt
        crashPoint(.indexWritten)
        return progress
    }

    private func store(_ changes: HistoryChanges, nextOffset: Int64, at now: Int64) throws(SQLiteError) {
        let segment = try currentSegment(at: now)
        try segment.store(
            changes.lines, changes.samples, nextOffset: nextOffset, stream: index.stream, at: now)
        segmentOffset = nextOffset
        crashPoint(.segmentCommitted)
    }

    private func currentSegment(at now: Int64) throws(SQLiteError) -> SegmentWriter {
        var number = (sealed.last?.number ?? 0) + 1
        if let segment {
            let summary = summary(of: segment)
            guard summary.isFull(at: now, limits) else { return segment }
            segment.close()
            self.segment = nil
            sealed.append(
                SegmentSummary(
                    number: summary.number, rows: summary.rows, bytes: folder.bytes(ofSegment: summary.number),
                    firstAt: summary.firstAt, lastAt: summary.lastAt))
            number = max(number, summary.number + 1)
        }
        let new = try SegmentWriter(folder, number, keys)
        segment = new
        crashPoint(.segmentCreated)
        return new
    }

    /// Deletes segments as the limits require.
    private func makeRoom(at now: Int64) throws(SQLiteError) -> HistoryProgress {
        let current = segment.map { [summary(of: $0)] } ?? []
        // A missing current segment counts as an empty one, so that the last closed segment can be deleted.
        let empty = SegmentSummary(number: 0, rows: 0, bytes: 0)
        let retention = HistoryRetention(
            sealed + (current.isEmpty ? [empty] : current), space(), at: now, limits)
        for number in retention.deleted { folder.deleteSegment(number) }
        sealed.removeAll { retention.deleted.contains($0.number) }
        return HistoryProgress(
            nextOffset: index.nextOffset, isDiskFull: retention.isDiskFull, deletedSegments: retention.deleted)
    }

    /// Stores a tombstone of a subject, so that a replay skips lines up to `now`. Returns the key of the subject.
    func addTombstone(of subject: HistorySubject, at now: Int64) throws(SQLiteError) -> HistoryKey {
        let key = try SQLiteError.withCrypto { () throws(CryptoError) in try hasher.key(subject) }
        try index.addTombstone(key, subject, at: now)
        return key
    }

    /// Deletes all rows of a subject from the segments. Requires that no other connection reads the files.
    ///
    /// - Throws: ``SQLiteError``. Some segments may have no such rows any more. Repeat the call.
    func eraseRows(of subject: HistorySubject, _ key: HistoryKey) throws(SQLiteError) -> HistoryErasure.Outcome {
        var outcome = HistoryErasure.Outcome()
        for summary in sealed {
            guard let writer = try openClosedSegment(summary.number) else {
                outcome.unreadableSegments.append(summary.number)
                continue
            }
            defer { writer.close() }
            do throws(SQLiteError) {
                outcome.rows += try writer.erase(subject, key)
            } catch {
                guard error.code == .corrupt else { throw error }
                outcome.unreadableSegments.append(summary.number)
            }
        }
        if let segment { outcome.rows += try segment.erase(subject, key) }
        return outcome
    }

    /// Returns nil for a segment that readers of this version cannot read either.
    private func openClosedSegment(_ number: Int) throws(SQLiteError) -> SegmentWriter? {
        let before = sealed
        defer { sealed = before }
        return try openSegment(number)
    }

    /// Forgets the offsets, because the stream was deleted and declared again.
    package func restartStream() throws(SQLiteError) {
        try index.restartStream()
        segmentOffset = nil
    }
}
