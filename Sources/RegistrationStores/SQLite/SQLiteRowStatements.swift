import Crypto
import Registrations
import SQLite

/// The statements of the table `registration` for commands, maintenance, pages and edits.
struct SQLiteRowStatements {
    /// A key that sorts before the keys of all rows.
    private static let lowest = Registration.Key(token: Registration.Key.unshared)

    private let select: SQLiteStatement
    private let selectOfDevice: SQLiteStatement
    private let selectOfUser: SQLiteStatement
    private let selectExpired: SQLiteStatement
    private let selectPage: SQLiteStatement
    private let selectPageOfApp: SQLiteStatement
    private let upsert: SQLiteStatement
    private let updateUnindexed: SQLiteStatement
    private let deleteEnded: SQLiteStatement
    private let keyIDs: String

    /// Prepares the statements.
    ///
    /// - Parameter keyIDs: The data keys of the key file, as a JSON array. `keys(expiringUntil:countMax:)` omits rows
    ///   of other keys.
    init(_ file: SQLiteFile, keyIDs: String) throws(SQLiteError) {
        self.keyIDs = keyIDs
        select = try file.prepare(
            """
            SELECT token_key, slot, user_key, device_key, scope_key, registered_at, ended_at, expires_at,
              suspect_since, suspicions, app, environment, kind, platform, key_id, ciphertext
            FROM registration WHERE token_key = ?1 AND (?2 IS NULL OR slot = ?2)
            """)
        selectOfDevice = try file.prepare("SELECT token_key, slot FROM registration WHERE device_key = ?")
        selectOfUser = try file.prepare("SELECT token_key, slot FROM registration WHERE user_key = ?")
        selectExpired = try file.prepare(
            """
            SELECT token_key, slot FROM registration WHERE expires_at <= ? AND environment <= ? AND kind <= ?
              AND (key_id IS NULL OR key_id IN (SELECT value FROM json_each(?)))
            ORDER BY expires_at LIMIT ?
            """)
        selectPage = try file.prepare(
            """
            SELECT token_key, slot FROM registration WHERE (token_key, slot) > (?1, ?2)
            ORDER BY token_key, slot LIMIT ?3
            """)
        selectPageOfApp = try file.prepare(
            """
            SELECT token_key, slot FROM registration WHERE (token_key, slot) > (?1, ?2) AND app = ?4
            ORDER BY token_key, slot LIMIT ?3
            """)
        upsert = try file.prepare(
            """
            INSERT INTO registration (token_key, slot, user_key, device_key, scope_key, registered_at, ended_at,
              expires_at, suspect_since, suspicions, app, environment, kind, platform, key_id, ciphertext)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (token_key, slot) DO UPDATE SET user_key = excluded.user_key,
              device_key = excluded.device_key, scope_key = excluded.scope_key,
              registered_at = excluded.registered_at, ended_at = excluded.ended_at, expires_at = excluded.expires_at,
              suspect_since = excluded.suspect_since, suspicions = excluded.suspicions, platform = excluded.platform,
              key_id = excluded.key_id, ciphertext = excluded.ciphertext
            """)
        updateUnindexed = try file.prepare(
            """
            UPDATE registration SET scope_key = ?, registered_at = ?, suspect_since = ?, suspicions = ?, platform = ?,
              key_id = ?, ciphertext = ?
            WHERE token_key = ? AND slot = ?
            """)
        deleteEnded = try file.prepare(
            """
            DELETE FROM registration WHERE (token_key, slot) IN
              (SELECT token_key, slot FROM registration WHERE ended_at < ? ORDER BY ended_at LIMIT ?)
            """)
    }

    /// Returns the rows of a token, one for each slot.
    func rows(ofToken token: UUIDValue) throws(SQLiteError) -> [StoredRow] { try rows(token, slot: nil) }

    /// Returns the row with a key; nil if it does not exist.
    func row(_ key: Registration.Key) throws(SQLiteError) -> StoredRow? { try rows(key.token, slot: key.slot).first }

    private func rows(_ token: UUIDValue, slot: UUIDValue?) throws(SQLiteError) -> [StoredRow] {
        select.bind(1, key: token)
        select.bind(2, key: slot)
        var rows: [StoredRow] = []
        try select.forEachRow { row throws(SQLiteError) in rows.append(try StoredRow(row)) }
        return rows
    }

    /// Returns the keys of the rows of an installation, tombstones included.
    func keys(ofDevice device: UUIDValue) throws(SQLiteError) -> [Registration.Key] {
        selectOfDevice.bind(1, key: device)
        return try selectOfDevice.keys()
    }

    /// Returns the keys of the live rows of a user.
    func keys(ofUser user: UUIDValue) throws(SQLiteError) -> [Registration.Key] {
        selectOfUser.bind(1, key: user)
        return try selectOfUser.keys()
    }

    /// Returns the keys of known rows that expire at or before a time, the earliest first.
    func keys(expiringUntil time: Int64, countMax: Int) throws(SQLiteError) -> [Registration.Key] {
        selectExpired.bind(1, int64: time)
        selectExpired.bind(2, int: KnownRows.environmentMax)
        selectExpired.bind(3, int: KnownRows.kindMax)
        selectExpired.bind(4, text: keyIDs)
        selectExpired.bind(5, int: countMax)
        return try selectExpired.keys()
    }

    /// Returns the keys of a page, in order.
    ///
    /// - Parameters:
    ///   - key: The key before the page; nil for the first page.
    ///   - app: The number of an app; nil for all apps.
    func keys(
        after key: Registration.Key?, app: Int?, countMax: Int
    ) throws(SQLiteError) -> [Registration.Key] {
        let statement = app == nil ? selectPage : selectPageOfApp
        let key = key ?? Self.lowest
        statement.bind(1, key: key.token)
        statement.bind(2, key: key.slot)
        statement.bind(3, int: countMax)
        if let app { statement.bind(4, int: app) }
        return try statement.keys()
    }

    /// Inserts a row, or updates the stored row with its key.
    func write(_ row: StoredRow, replacing stored: StoredRow?) throws(SQLiteError) {
        // Most writes repeat a registration. They change only columns that no index contains.
        if let stored, stored.userKey == row.userKey, stored.deviceKey == row.deviceKey,
            stored.endedAt == row.endedAt, stored.expiresAt == row.expiresAt
        {
            try writeUnindexed(row)
        } else {
            try writeAll(row)
        }
    }

    private func writeUnindexed(_ row: StoredRow) throws(SQLiteError) {
        updateUnindexed.bind(1, key: row.scopeKey)
        updateUnindexed.bind(2, int64: row.registeredAt)
        updateUnindexed.bind(3, int64: row.suspectSince)
        updateUnindexed.bind(4, int: row.suspicions)
        updateUnindexed.bind(5, int: row.platform)
        updateUnindexed.bind(6, int: row.sealed?.keyID)
        updateUnindexed.bind(7, blob: row.sealed?.ciphertext)
        updateUnindexed.bind(8, key: row.key.token)
        updateUnindexed.bind(9, key: row.key.slot)
        try updateUnindexed.run()
    }

    private func writeAll(_ row: StoredRow) throws(SQLiteError) {
        upsert.bind(1, key: row.key.token)
        upsert.bind(2, key: row.key.slot)
        upsert.bind(3, key: row.userKey)
        upsert.bind(4, key: row.deviceKey)
        upsert.bind(5, key: row.scopeKey)
        upsert.bind(6, int64: row.registeredAt)
        upsert.bind(7, int64: row.endedAt)
        upsert.bind(8, int64: row.expiresAt)
        upsert.bind(9, int64: row.suspectSince)
        upsert.bind(10, int: row.suspicions)
        upsert.bind(11, int: row.app)
        upsert.bind(12, int: row.environment)
        upsert.bind(13, int: row.kind)
        upsert.bind(14, int: row.platform)
        upsert.bind(15, int: row.sealed?.keyID)
        upsert.bind(16, blob: row.sealed?.ciphertext)
        try upsert.run()
    }

    /// Deletes tombstones whose end is before a time, the earliest first. Returns the number of deleted tombstones.
    func delete(endedBefore time: Int64, countMax: Int) throws(SQLiteError) -> Int {
        deleteEnded.bind(1, int64: time)
        deleteEnded.bind(2, int: countMax)
        return try deleteEnded.run()
    }
}

extension StoredRow {
    /// Reads the columns of `SQLiteRowStatements.select`.
    fileprivate init(_ row: borrowing SQLiteRow) throws(SQLiteError) {
        self.init(
            key: Registration.Key(token: try row.key(0), slot: try row.key(1)), deviceKey: try row.keyOrNil(3),
            registeredAt: try row.int64(5), endedAt: try row.int64OrNil(6), app: try row.int(10),
            environment: try row.int(11), kind: try row.int(12))
        userKey = try row.keyOrNil(2)
        scopeKey = try row.keyOrNil(4)
        expiresAt = try row.int64OrNil(7)
        suspectSince = try row.int64OrNil(8)
        suspicions = try row.int(9)
        platform = try row.intOrNil(13)
        sealed = try row.sealed(14)
    }
}
