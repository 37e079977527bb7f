import Crypto
import SQLite

extension SQLiteStatement {
    func bind(_ parameter: Int, int value: Int?) { bind(parameter, int64: value.map { Int64($0) }) }

    /// Binds the halves of an id to this parameter and the next one; NULL if `id` is nil.
    func bind(_ parameter: Int, id: UUIDValue?) {
        bind(parameter, int64: id.map { Int64(bitPattern: $0.high) })
        bind(parameter + 1, int64: id.map { Int64(bitPattern: $0.low) })
    }

    /// Runs the statement, and returns what `read` returns for each row.
    func rows<Value>(
        _ read: (borrowing SQLiteRow) throws(SQLiteError) -> Value
    ) throws(SQLiteError) -> [Value] {
        var values: [Value] = []
        try forEachRow { row throws(SQLiteError) in values.append(try read(row)) }
        return values
    }
}

extension SQLiteRow {
    func int(_ column: Int) throws(SQLiteError) -> Int { Int(try int64(column)) }

    func intOrNil(_ column: Int) throws(SQLiteError) -> Int? { isNull(column) ? nil : try int(column) }

    /// Returns the id whose halves are in this column and the next one; nil for NULL.
    func id(_ column: Int) throws(SQLiteError) -> UUIDValue? {
        guard let high = try int64OrNil(column), let low = try int64OrNil(column + 1) else { return nil }
        return UUIDValue(high: UInt64(bitPattern: high), low: UInt64(bitPattern: low))
    }
}

extension SQLiteError {
    /// Runs `body`, and converts its errors into errors of a job.
    static func withCrypto<Value>(_ body: () throws(CryptoError) -> Value) throws(SQLiteError) -> Value {
        do throws(CryptoError) {
            return try body()
        } catch {
            // The values of a row cannot cause a failure of OpenSSL, so the transaction must end.
            throw SQLiteError(.memory, error.message)
        }
    }
}
