import Crypto
import Registrations
import SQLite

/// The statements of the table `ended`.
struct SQLiteMarkStatements {
    private let select: SQLiteStatement
    private let selectPage: SQLiteStatement
    private let upsert: SQLiteStatement
    private let deleteOld: SQLiteStatement

    init(_ file: SQLiteFile) throws(SQLiteError) {
        select = try file.prepare("SELECT at, permanent FROM ended WHERE key = ?")
        selectPage = try file.prepare(
            "SELECT key, at, permanent FROM ended WHERE key > ? ORDER BY key LIMIT ?")
        upsert = try file.prepare(
            """
            INSERT INTO ended (key, at, permanent) VALUES (?, ?, ?)
            ON CONFLICT (key) DO UPDATE SET at = excluded.at, permanent = excluded.permanent
            """)
        deleteOld = try file.prepare(
            """
            DELETE FROM ended WHERE key IN
              (SELECT key FROM ended WHERE permanent = 0 AND at < ? ORDER BY at LIMIT ?)
            """)
    }

    func marks(_ keys: Set<UUIDValue>) throws(SQLiteError) -> [EndMark] {
        var marks: [EndMark] = []
        for key in keys {
            select.bind(1, key: key)
            let mark = try select.firstRow { row throws(SQLiteError) in
                EndMark(key: key, at: try row.int64(0), isPermanent: try row.int64(1) != 0)
            }
            if let mark { marks.append(mark) }
        }
        return marks
    }

    /// Returns the marks after a key, in the order of their keys.
    func marks(after key: UUIDValue?, countMax: Int) throws(SQLiteError) -> [EndMark] {
        selectPage.bind(1, key: key ?? Registration.Key.unshared)
        selectPage.bind(2, int: countMax)
        var marks: [EndMark] = []
        try selectPage.forEachRow { row throws(SQLiteError) in
            marks.append(
                EndMark(key: try row.key(0), at: try row.int64(1), isPermanent: try row.int64(2) != 0))
        }
        return marks
    }

    func write(_ mark: EndMark) throws(SQLiteError) {
        upsert.bind(1, key: mark.key)
        upsert.bind(2, int64: mark.at)
        upsert.bind(3, int: mark.isPermanent ? 1 : 0)
        try upsert.run()
    }

    /// Deletes the marks before a time, the earliest first, except permanent ones. Returns the number of deleted marks.
    func delete(before time: Int64, countMax: Int) throws(SQLiteError) -> Int {
        deleteOld.bind(1, int64: time)
        deleteOld.bind(2, int: countMax)
        return try deleteOld.run()
    }
}
