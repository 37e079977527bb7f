import ControlProtocol
import Crypto
import SQLite

/// The statements that change the index, and the part of its content that indexing needs. Each method runs within a
/// transaction of the caller.
final class IndexWriter {
    /// The names of values in the table `meta`.
    enum Meta: String, CaseIterable {
        /// The offset behind the indexed messages.
        case nextOffset = "next_offset"
        /// The number of streams that were deleted since the index exists.
        case stream
        case malformedBatches = "malformed_batches"
        case repeatedBatches = "repeated_batches"
        case ignoredLines = "ignored_lines"
    }

    private let file: SQLiteFile
    private let words: WordTable
    private let metaUpdate: SQLiteStatement
    private let metaSelection: SQLiteStatement
    private let minuteUpdate: SQLiteStatement
    private let acceptedUpdate: SQLiteStatement
    private let boots: IndexBoots
    private let groups: IndexGroups
    private let waits: IndexWaits
    private let tombstoneUpdate: SQLiteStatement
    private let tombstoneSelection: SQLiteStatement
    private let prunings: [SQLiteStatement]

    private(set) var sequences = JournalSequences()
    private(set) var tombstones = HistoryTombstones()
    private(set) var nextOffset: Int64?
    /// The number of the current stream. Offsets of different streams are not comparable.
    private(set) var stream: Int64 = 0

    init(_ file: SQLiteFile) throws(SQLiteError) {
        self.file = file
        words = try WordTable(file)
        metaUpdate = try file.prepare(
            "INSERT INTO meta (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value")
        metaSelection = try file.prepare("SELECT value FROM meta WHERE name = ?")
        minuteUpdate = try file.prepare(
            """
            INSERT INTO minute (minute, app, outcome, code, count) VALUES (?, ?, ?, ?, ?)
            ON CONFLICT (minute, app, outcome, code) DO UPDATE SET count = count + excluded.count
            """)
        acceptedUpdate = try file.prepare(
            "INSERT INTO accepted (app, at) VALUES (?, ?) ON CONFLICT (app) DO UPDATE SET at = max(at, excluded.at)")
        boots = try IndexBoots(file)
        groups = try IndexGroups(file)
        waits = try IndexWaits(file)
        tombstoneUpdate = try file.prepare(
            """
            INSERT INTO tombstone (key_high, key_low, at) VALUES (?, ?, ?)
            ON CONFLICT (key_high, key_low) DO UPDATE SET at = max(at, excluded.at)
            """)
        tombstoneSelection = try file.prepare("SELECT key_high, key_low, at FROM tombstone ORDER BY at DESC LIMIT ?")
        prunings = [
            try file.prepare("DELETE FROM minute WHERE minute < ?1 / 60000"),
            try file.prepare("DELETE FROM gap WHERE until_at < ?1"),
            try file.prepare("DELETE FROM dead_hour WHERE hour < ?1 / 3600000"),
            try file.prepare("DELETE FROM dead_group WHERE last_at < ?1"),
            try file.prepare("DELETE FROM tombstone WHERE at < ?1"),
        ]
        try load()
    }

    /// Reads the content again, after the file has rolled back.
    func reload() throws(SQLiteError) {
        try words.reload()
        try load()
    }

    private func load() throws(SQLiteError) {
        nextOffset = try value(.nextOffset)
        stream = try value(.stream) ?? 0
        sequences = JournalSequences(try boots.all())
        tombstones = HistoryTombstones()
        tombstoneSelection.bind(1, int: HistoryLimits.tombstonesMax)
        try tombstoneSelection.forEachRow { row throws(SQLiteError) in
            if let value = try row.id(0) { tombstones.add(HistoryKey(value: value), at: try row.int64(2)) }
        }
    }

    private func value(_ name: Meta) throws(SQLiteError) -> Int64? {
        metaSelection.bind(1, text: name.rawValue)
        return try metaSelection.firstRow { row throws(SQLiteError) in try row.int64(0) }
    }

    private func set(_ name: Meta, _ value: Int64) throws(SQLiteError) {
        metaUpdate.bind(1, text: name.rawValue)
        metaUpdate.bind(2, int64: value)
        try metaUpdate.run()
    }

    private func add(_ count: Int, to name: Meta) throws(SQLiteError) {
        if count > 0 { try set(name, (try value(name) ?? 0) + Int64(count)) }
    }

    /// Stores the changes of messages, and the offset behind them.
    func store(
        _ changes: HistoryChanges, _ sequences: JournalSequences, nextOffset: Int64
    ) throws(SQLiteError) {
        for (minute, count) in changes.minutes {
            let app = try words.number(of: minute.app)
            let code = try words.number(of: minute.code)
            minuteUpdate.bind(1, int64: minute.minute)
            minuteUpdate.bind(2, int64: app)
            minuteUpdate.bind(3, int: minute.outcome)
            minuteUpdate.bind(4, int64: code)
            minuteUpdate.bind(5, int: count)
            try minuteUpdate.run()
        }
        for (app, at) in changes.accepted {
            let app = try words.number(of: app)
            acceptedUpdate.bind(1, int64: app)
            acceptedUpdate.bind(2, int64: at)
            try acceptedUpdate.run()
        }
        try boots.store(changes.sequences, sequences)
        try groups.store(changes.groups)
        try waits.store(changes.waits, words)
        try add(changes.malformedBatches, to: .malformedBatches)
        try add(changes.repeatedBatches, to: .repeatedBatches)
        try add(changes.ignoredLines, to: .ignoredLines)
        try set(.nextOffset, nextOffset)
        self.sequences = sequences
        self.nextOffset = nextOffset
    }

    /// Stores that lines of a subject up to `now` must not be stored again.
    func addTombstone(_ key: HistoryKey, _ subject: HistorySubject, at now: Int64) throws(SQLiteError) {
        guard tombstones.count < HistoryLimits.tombstonesMax else {
            throw SQLiteError(
                .value,
                "cannot erase: the index has \(tombstones.count) erasures, the maximum; wait until the oldest expire")
        }
        tombstoneUpdate.bind(1, id: key.value)
        tombstoneUpdate.bind(3, int64: now)
        try tombstoneUpdate.run()
        tombstones.add(key, at: now)
        if case .id(let id) = subject { try waits.erase(id, file) }
    }

    /// Removes entries older than `time`, and waits that count as lost from the journal at `now`.
    func prune(before time: Int64, at now: Int64) throws(SQLiteError) {
        for statement in prunings {
            statement.bind(1, int64: time)
            try statement.run()
        }
        try waits.prune(at: now)
    }

    /// Forgets the offset, because the stream was deleted and declared again.
    func restartStream() throws(SQLiteError) {
        try set(.nextOffset, 0)
        try set(.stream, stream + 1)
        (nextOffset, stream) = (0, stream + 1)
    }
}
