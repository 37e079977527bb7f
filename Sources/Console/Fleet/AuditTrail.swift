import ControlProtocol
import Crypto

/// The newest records of the audit. It performs no I/O.
struct AuditTrail: Sendable {
    /// Maximum number of records. A further record replaces the oldest.
    static let recordsMax = 5000
    static let pageMax = 100

    /// The records with their offsets in the stream, oldest first.
    private var records: [(offset: Int64, record: AuditRecord)] = []
    private var first = 0

    /// The offset of the newest message that the reader has seen; nil before the first message.
    private(set) var lastOffset: Int64?

    /// Notes the offset of a message. Returns whether the message is new.
    mutating func isNew(_ offset: Int64) -> Bool {
        if let lastOffset, offset <= lastOffset { return false }
        lastOffset = offset
        return true
    }

    mutating func add(_ record: AuditRecord, at offset: Int64) {
        records.append((offset, record))
        first = max(first, records.count - Self.recordsMax)
        // Remove old records in batches, because a removal moves all others.
        if first >= Self.recordsMax {
            records.removeFirst(first)
            first = 0
        }
    }

    /// Returns the newest record of an action that has not ended.
    ///
    /// - Parameters:
    ///   - verbs: the names of the actions.
    ///   - since: UNIX milliseconds. Older records may belong to consoles that were killed.
    func unfinished(_ verbs: Set<String>, since: Int64) -> AuditRecord? {
        var ended: Set<UUIDValue> = []
        for (_, record) in records[first...].reversed() where record.at >= since && verbs.contains(record.verb) {
            switch record.phase {
            case .after: ended.insert(record.id)
            case .before: if !ended.contains(record.id) { return record }
            }
        }
        return nil
    }

    struct Page: Sendable {
        /// The records, newest first.
        var records: [AuditRecord]
        /// The cursor of the next page; nil if there are no older records.
        var next: Int64?
    }

    /// Returns a page of records.
    ///
    /// - Parameter cursor: only records before this offset; nil for the newest.
    func page(before cursor: Int64?) -> Page {
        var place = records.endIndex
        if let cursor {
            var low = first
            while low < place {
                let middle = low + (place - low) / 2
                if records[middle].offset < cursor { low = middle + 1 } else { place = middle }
            }
        }
        let start = max(first, place - Self.pageMax)
        return Page(
            records: records[start..<place].reversed().map(\.record), next: start > first ? records[start].offset : nil)
    }
}
