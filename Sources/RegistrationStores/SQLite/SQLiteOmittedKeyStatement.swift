import Registrations
import SQLite

/// The statement that finds a data key that the key file lacks. Maintenance omits rows and events of such keys.
struct SQLiteOmittedKeyStatement {
    private let select: SQLiteStatement

    /// - Parameter keyIDs: The data keys of the key file.
    init(_ file: SQLiteFile, keyIDs: [Int]) throws(SQLiteError) {
        let list = Self.list(keyIDs)
        select = try file.prepare(
            """
            SELECT key_id FROM (SELECT key_id FROM event WHERE at <= ?1 ORDER BY at LIMIT ?3)
            WHERE key_id NOT IN (\(list))
            UNION ALL
            SELECT key_id FROM (SELECT key_id FROM registration WHERE expires_at <= ?2 ORDER BY expires_at LIMIT ?3)
            WHERE key_id NOT IN (\(list))
            LIMIT 1
            """)
    }

    /// Returns the elements of an SQL list.
    static func list(_ keyIDs: [Int]) -> String { keyIDs.map { "\($0)" }.joined(separator: ", ") }

    /// Returns a missing data key of the oldest events or expired rows; nil if there is none.
    ///
    /// - Parameters:
    ///   - now: UNIX milliseconds.
    ///   - countMax: The maximum number of events, and of rows, to search.
    func missingKey(now: Int64, countMax: Int) throws(SQLiteError) -> MissingDataKey? {
        select.bind(1, int64: now - Maintenance.eventAgeMillisecondsMin)
        select.bind(2, int64: now)
        select.bind(3, int: countMax)
        var missing: MissingDataKey?
        try select.forEachRow { row throws(SQLiteError) in
            missing = MissingDataKey(id: Int(try row.int64(0)))
        }
        return missing
    }
}
