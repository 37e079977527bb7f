import Registrations
import SQLite

/// The statement that finds a data key that the key file lacks. Maintenance omits rows and events of such keys.
struct SQLiteOmittedKeyStatement {
    private let select: SQLiteStatement
    private let keyIDs: String

    /// Prepares the statement.
    ///
    /// - Parameter keyIDs: The data keys of the key file, as a JSON array.
    init(_ file: SQLiteFile, keyIDs: String) throws(SQLiteError) {
        self.keyIDs = keyIDs
        select = try file.prepare(
            """
            SELECT key_id FROM (SELECT key_id FROM event WHERE at <= ?1 ORDER BY at LIMIT ?3)
            WHERE key_id NOT IN (SELECT value FROM json_each(?4))
            UNION ALL
            SELECT key_id FROM (SELECT key_id FROM registration WHERE expires_at <= ?2 ORDER BY expires_at LIMIT ?3)
            WHERE key_id NOT IN (SELECT value FROM json_each(?4))
            LIMIT 1
            """)
    }

    /// Returns a missing data key of the oldest events or expired rows; nil if there is none.
    ///
    /// - Parameters:
    ///   - now: UNIX milliseconds.
    ///   - countMax: The maximum number of events, and of rows, to search.
    func missingKey(now: Int64, countMax: Int) throws(SQLiteError) -> MissingDataKey? {
        select.bind(1, int64: now - Maintenance.eventAgeMillisecondsMin)
        select.bind(2, int64: now)
        select.bind(3, int: countMax)
        select.bind(4, text: keyIDs)
        return try select.firstRow { row throws(SQLiteError) in MissingDataKey(id: Int(try row.int64(0))) }
    }
}
