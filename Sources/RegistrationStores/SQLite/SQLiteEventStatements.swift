import Crypto
import Registrations
import SQLite

/// The statements of the table `event`.
struct SQLiteEventStatements {
    /// A claimed event.
    struct Claim {
        let id: UUIDValue
        let sealed: RowCipher.Sealed
        let wasHandedOut: Bool
    }

    private let insert: SQLiteStatement
    private let select: SQLiteStatement
    private let claim: SQLiteStatement
    private let delete: SQLiteStatement
    private let keyIDs: String

    /// Prepares the statements.
    ///
    /// - Parameter keyIDs: The data keys of the key file, as a JSON array. `claim` omits events of other data keys.
    init(_ file: SQLiteFile, keyIDs: String) throws(SQLiteError) {
        insert = try file.prepare(
            "INSERT INTO event (event, at, handed_out, key_id, ciphertext) VALUES (?, ?, ?, ?, ?)")
        select = try file.prepare(
            """
            SELECT event, handed_out, key_id, ciphertext FROM event
            WHERE at <= ? AND key_id IN (SELECT value FROM json_each(?)) ORDER BY at LIMIT ?
            """)
        claim = try file.prepare("UPDATE event SET at = ?, handed_out = 1 WHERE event = ?")
        delete = try file.prepare("DELETE FROM event WHERE event = ?")
        self.keyIDs = keyIDs
    }

    func insert(_ id: UUIDValue, at time: Int64, isHandedOut: Bool, _ sealed: RowCipher.Sealed) throws(SQLiteError) {
        insert.bind(1, key: id)
        insert.bind(2, int64: time)
        insert.bind(3, int: isHandedOut ? 1 : 0)
        insert.bind(4, int: sealed.keyID)
        insert.bind(5, blob: sealed.ciphertext)
        try insert.run()
    }

    /// Claims events that are at least `Maintenance.eventAgeMillisecondsMin` old, the oldest first. Sets their times to
    /// `now`, so that no other round claims them before they have this age again.
    func claim(now: Int64, countMax: Int) throws(SQLiteError) -> [Claim] {
        select.bind(1, int64: now - Maintenance.eventAgeMillisecondsMin)
        select.bind(2, text: keyIDs)
        select.bind(3, int: countMax)
        var claims: [Claim] = []
        try select.forEachRow { row throws(SQLiteError) in
            guard let sealed = try row.sealed(2) else { return }
            claims.append(Claim(id: try row.key(0), sealed: sealed, wasHandedOut: try row.int64(1) != 0))
        }
        for event in claims {
            claim.bind(1, int64: now)
            claim.bind(2, key: event.id)
            try claim.run()
        }
        return claims
    }

    func delete(_ id: UUIDValue) throws(SQLiteError) {
        delete.bind(1, key: id)
        try delete.run()
    }
}
