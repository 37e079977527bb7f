import Crypto
import Registrations
import SQLite

extension SQLiteStatement {
    /// Binds the 16 bytes of a key; NULL if `key` is nil.
    func bind(_ parameter: Int, key: UUIDValue?) {
        guard let key else { return bindNull(parameter) }
        let bytes = (key.high.bigEndian, key.low.bigEndian)
        withUnsafeBytes(of: bytes) { bind(parameter, blob: $0) }
    }

    func bind(_ parameter: Int, int value: Int?) { bind(parameter, int64: value.map { Int64($0) }) }

    /// Runs the statement, and returns the keys in its first two columns: `token_key` and `slot`.
    ///
    /// - Throws: ``SQLiteError``.
    func keys() throws(SQLiteError) -> [Registration.Key] {
        var keys: [Registration.Key] = []
        try forEachRow { row throws(SQLiteError) in
            keys.append(Registration.Key(token: try row.key(0), slot: try row.key(1)))
        }
        return keys
    }
}

extension SQLiteRow {
    /// - Throws: ``SQLiteError`` of code `value` if the column is not a blob of 16 bytes.
    func key(_ column: Int) throws(SQLiteError) -> UUIDValue {
        try withBlob(column) { bytes throws(SQLiteError) in
            guard bytes.count == 16 else {
                throw SQLiteError(.value, "column \(column) of a row does not have the 16 bytes of a key")
            }
            return UUIDValue(
                high: UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
                low: UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
        }
    }

    /// Returns nil for NULL.
    ///
    /// - Throws: ``SQLiteError`` of code `value` if the column is not a blob of 16 bytes.
    func keyOrNil(_ column: Int) throws(SQLiteError) -> UUIDValue? { isNull(column) ? nil : try key(column) }

    /// - Throws: ``SQLiteError`` of code `value` if the column holds another type.
    func int(_ column: Int) throws(SQLiteError) -> Int { Int(try int64(column)) }

    /// Returns nil for NULL.
    ///
    /// - Throws: ``SQLiteError`` of code `value` if the column holds another type.
    func intOrNil(_ column: Int) throws(SQLiteError) -> Int? { isNull(column) ? nil : try int(column) }

    /// Returns the data key's id and the ciphertext in two columns; nil if the first one is NULL.
    ///
    /// - Throws: ``SQLiteError`` of code `value` if a column holds another type.
    func sealed(_ column: Int) throws(SQLiteError) -> RowCipher.Sealed? {
        isNull(column) ? nil : RowCipher.Sealed(keyID: try int(column), ciphertext: try blob(column + 1))
    }
}
