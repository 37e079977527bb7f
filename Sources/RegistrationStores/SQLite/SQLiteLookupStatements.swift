import APNSProtocol
import Crypto
import Registrations
import SQLite

/// The statements that search for the devices of a user. The index of users contains the rows of a user in the order of
/// their keys.
struct SQLiteLookupStatements {
    private let all: SQLiteStatement
    private let one: SQLiteStatement

    init(_ file: SQLiteFile) throws(SQLiteError) {
        all = try file.prepare(
            """
            SELECT token_key, slot, registered_at, key_id, ciphertext FROM registration
            WHERE user_key = ?1 AND environment = ?2 AND kind = ?3 AND scope_key IS ?4 AND suspicions < ?5
              AND (expires_at IS NULL OR expires_at > ?6)
            ORDER BY token_key, slot LIMIT ?7
            """)
        one = try file.prepare(
            """
            SELECT token_key, slot, registered_at, key_id, ciphertext FROM registration
            WHERE token_key = ?8 AND user_key = ?1 AND environment = ?2 AND kind = ?3 AND scope_key IS ?4
              AND suspicions < ?5 AND (expires_at IS NULL OR expires_at > ?6)
            ORDER BY token_key, slot LIMIT ?7
            """)
    }

    /// Calls `body` with the key, the time of registration and the encrypted identity of each device, for at most
    /// `DeviceLookup.devicesMax` devices.
    func forEachDevice(
        of query: DeviceQuery, userKey: UUIDValue, scopeKey: UUIDValue?, now: Int64,
        _ body: (Registration.Key, _ registeredAt: Int64, RowCipher.Sealed) throws(SQLiteError) -> Void
    ) throws(SQLiteError) {
        let statement = query.tokenKey == nil ? all : one
        statement.bind(1, key: userKey)
        statement.bind(2, int: query.environment.number)
        statement.bind(3, int: query.kind.number)
        statement.bind(4, key: scopeKey)
        statement.bind(5, int: RegistrationRules.suspicionsMax)
        statement.bind(6, int64: now)
        statement.bind(7, int: DeviceLookup.devicesMax)
        if let tokenKey = query.tokenKey { statement.bind(8, key: tokenKey) }
        try statement.forEachRow { row throws(SQLiteError) in
            guard let sealed = try row.sealed(3) else { return }
            try body(Registration.Key(token: try row.key(0), slot: try row.key(1)), try row.int64(2), sealed)
        }
    }
}
