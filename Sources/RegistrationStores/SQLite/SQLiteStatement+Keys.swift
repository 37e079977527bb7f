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
    func keys() throws(SQLiteError) -> [Registration.Key] {
        var keys: [Registration.Key] = []
        try forEachRow { row throws(SQLiteError) in
            keys.append(Registration.Key(token: try row.key(0), slot: try row.key(1)))
        }
        return keys
    }
}

extension SQLiteRow {
    /// Returns the key in a column.
    ///
    /// - Throws: ``SQLiteError`` of code `value` if the column is not a blob of 16 bytes.
    func key(_ column: Int) throws(SQLiteError) -> UUIDValue {
        try withBlob(column) { bytes throws(SQLiteError) in
            guard bytes.count == 16 else {
                throw SQLiteError(.value, "cannot read column \(column) of a row: a key has 16 bytes")
            }
            return UUIDValue(
                high: UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
                low: UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
        }
    }

    /// Returns the key in a column; nil for NULL.
    ///
    /// - Throws: ``SQLiteError`` of code `value` if the column is neither NULL nor a blob of 16 bytes.
    func keyOrNil(_ column: Int) throws(SQLiteError) -> UUIDValue? { isNull(column) ? nil : try key(column) }

    /// Returns the integer in a column.
    ///
    /// - Throws: ``SQLiteError`` of code `value` if the column is not an integer.
    func int(_ column: Int) throws(SQLiteError) -> Int { Int(try int64(column)) }

    /// Returns the integer in a column; nil for NULL.
    ///
    /// - Throws: ``SQLiteError`` of code `value` if the column is neither NULL nor an integer.
    func intOrNil(_ column: Int) throws(SQLiteError) -> Int? { isNull(column) ? nil : try int(column) }

    /// Returns the data key's id in a column and the ciphertext in the next one; nil if the id is NULL.
    ///
    /// - Throws: ``SQLiteError`` of code `value` if the columns are not an integer and a blob.
    func sealed(_ column: Int) throws(SQLiteError) -> RowCipher.Sealed? {
        isNull(column) ? nil : RowCipher.Sealed(keyID: try int(column), ciphertext: try blob(column + 1))
    }
}
