import ControlProtocol
import Crypto
import SQLite

/// The statements for requests that wait.
struct IndexWaits {
    /// The time after the end of a wait at which the request counts as lost from the journal. A request may wait again
    /// for the same reason without a line.
    private static let lostMilliseconds: Int64 = 86_400_000

    private let count: SQLiteStatement
    private let update: SQLiteStatement
    private let removal: SQLiteStatement
    private let pruning: SQLiteStatement

    init(_ file: SQLiteFile) throws(SQLiteError) {
        count = try file.prepare("SELECT count(*) FROM open_wait")
        update = try file.prepare(
            """
            INSERT INTO open_wait (id_high, id_low, app, code, at, until) VALUES (?, ?, ?, ?, ?, ?)
            ON CONFLICT (id_low, id_high) DO UPDATE
            SET app = excluded.app, code = excluded.code, at = excluded.at, until = excluded.until
            """)
        removal = try file.prepare("DELETE FROM open_wait WHERE id_high = ? AND id_low = ?")
        pruning = try file.prepare("DELETE FROM open_wait WHERE until < ?")
    }

    func store(_ waits: [UUIDValue: JournalWait?], _ words: WordTable) throws(SQLiteError) {
        let news = waits.values.count { $0 != nil }
        var room = 0
        if news > 0 {
            let known = try count.firstRow { row throws(SQLiteError) in try row.int(0) } ?? 0
            room = HistoryLimits.openWaitsMax - known
        }
        for (id, wait) in waits {
            guard let wait else {
                try remove(id)
                continue
            }
            guard room > 0 else { continue }
            room -= 1
            let app = try words.number(of: wait.app)
            let code = try words.number(of: wait.code)
            update.bind(1, id: id)
            update.bind(3, int64: app)
            update.bind(4, int64: code)
            update.bind(5, int64: wait.at)
            update.bind(6, int64: wait.until)
            try update.run()
        }
    }

    func remove(_ id: UUIDValue) throws(SQLiteError) {
        removal.bind(1, id: id)
        try removal.run()
    }

    /// Removes a request and the copies of its id in the free space of pages, by building the table again.
    func erase(_ id: UUIDValue, _ file: SQLiteFile) throws(SQLiteError) {
        try remove(id)
        try file.execute(
            """
            CREATE TEMP TABLE kept_wait AS SELECT * FROM main.open_wait;
            DELETE FROM main.open_wait;
            INSERT INTO main.open_wait SELECT * FROM kept_wait ORDER BY id_low, id_high;
            DROP TABLE kept_wait
            """)
    }

    func prune(at now: Int64) throws(SQLiteError) {
        pruning.bind(1, int64: now - Self.lostMilliseconds)
        try pruning.run()
    }
}
