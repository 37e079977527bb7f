import Crypto
import SQLite

/// The statements for processes of workers and gaps.
struct IndexBoots {
    private let selection: SQLiteStatement
    private let update: SQLiteStatement
    private let removal: SQLiteStatement
    private let gapInsertion: SQLiteStatement
    private let gapRemoval: SQLiteStatement
    private let gapTrim: SQLiteStatement

    init(_ file: SQLiteFile) throws(SQLiteError) {
        selection = try file.prepare("SELECT id_high, id_low, worker, sequence, last_at, state FROM boot")
        update = try file.prepare(
            """
            INSERT INTO boot (id_high, id_low, worker, sequence, last_at, state) VALUES (?, ?, ?, ?, ?, ?)
            ON CONFLICT (id_high, id_low) DO UPDATE
            SET sequence = excluded.sequence, last_at = excluded.last_at, state = excluded.state
            """)
        removal = try file.prepare("DELETE FROM boot WHERE id_high = ? AND id_low = ?")
        gapInsertion = try file.prepare(
            "INSERT INTO gap (id_high, id_low, worker, from_at, until_at, reason, count) VALUES (?, ?, ?, ?, ?, ?, ?)")
        gapRemoval = try file.prepare("DELETE FROM gap WHERE id_high = ? AND id_low = ? AND reason = ?")
        gapTrim = try file.prepare("DELETE FROM gap WHERE n <= (SELECT max(n) FROM gap) - ?")
    }

    func all() throws(SQLiteError) -> [JournalBoot] {
        try selection.rows { row throws(SQLiteError) in try Self.boot(row) }
    }

    static func boot(_ row: borrowing SQLiteRow) throws(SQLiteError) -> JournalBoot {
        JournalBoot(
            id: try row.id(0) ?? UUIDValue(high: 0, low: 0), worker: try row.text(2), sequence: try row.int(3),
            lastAt: try row.int64(4), state: JournalBoot.State(rawValue: try row.int(5)) ?? .ended)
    }

    func store(_ changes: [JournalSequences.Change], _ sequences: JournalSequences) throws(SQLiteError) {
        for change in changes {
            for boot in change.revived {
                gapRemoval.bind(1, id: boot)
                gapRemoval.bind(3, text: HistoryGap.Reason.killed.rawValue)
                try gapRemoval.run()
            }
            for new in change.gaps { try insert(new) }
            for id in change.forgotten {
                removal.bind(1, id: id)
                try removal.run()
            }
        }
        for id in Set(changes.flatMap(\.boots)) {
            guard let boot = sequences.boots[id] else { continue }
            update.bind(1, id: boot.id)
            update.bind(3, text: boot.worker)
            update.bind(4, int: boot.sequence)
            update.bind(5, int64: boot.lastAt)
            update.bind(6, int: boot.state.rawValue)
            try update.run()
        }
    }

    private func insert(_ new: JournalSequences.NewGap) throws(SQLiteError) {
        gapInsertion.bind(1, id: new.boot)
        gapInsertion.bind(3, text: new.gap.worker)
        gapInsertion.bind(4, int64: new.gap.from)
        gapInsertion.bind(5, int64: new.gap.until)
        gapInsertion.bind(6, text: new.gap.reason.rawValue)
        gapInsertion.bind(7, int: new.gap.count)
        try gapInsertion.run()
        gapTrim.bind(1, int: HistoryLimits.gapsMax)
        try gapTrim.run()
    }
}
