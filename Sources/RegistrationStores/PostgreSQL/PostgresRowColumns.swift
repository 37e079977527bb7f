import Crypto
import PostgreSQL
import Registrations

/// The columns of the table `registration` in the order in which statements read and write them.
enum PostgresRowColumns {
    private static let columns: [(name: String, arrayType: PostgresType)] = [
        ("token_key", .uuidArray), ("slot", .uuidArray), ("user_key", .uuidArray), ("device_key", .uuidArray),
        ("scope_key", .uuidArray), ("registered_at", .int8Array), ("ended_at", .int8Array),
        ("expires_at", .int8Array), ("suspect_since", .int8Array), ("suspicions", .int2Array), ("app", .int2Array),
        ("environment", .int2Array), ("kind", .int2Array), ("platform", .int2Array), ("key_id", .int2Array),
        ("ciphertext", .byteaArray),
    ]
    private static let keyColumnCount = 2

    static let names = columns.map(\.name).joined(separator: ", ")
    /// The types of the parameters of a statement that writes rows.
    static let types = columns.map(\.arrayType)
    /// The parameters of a statement that writes rows: `$1, $2, …`.
    static let parameters = columns.indices.map { "$\($0 + 1)" }.joined(separator: ", ")

    /// Returns the assignments of an UPDATE for all columns except those of the key.
    static func assignments(from source: String) -> String {
        columns.dropFirst(keyColumnCount).map { "\($0.name) = \(source).\($0.name)" }.joined(separator: ", ")
    }
}

extension PostgresParameters {
    /// Appends one array for each column, with the values of the rows.
    mutating func append(columnsOf rows: [StoredRow]) {
        append(array: rows.map(\.key.token))
        append(array: rows.map(\.key.slot))
        append(array: rows.map(\.userKey))
        append(array: rows.map(\.deviceKey))
        append(array: rows.map(\.scopeKey))
        append(array: rows.map(\.registeredAt))
        append(array: rows.map(\.endedAt))
        append(array: rows.map(\.expiresAt))
        append(array: rows.map(\.suspectSince))
        append(array: rows.map { Int16(clamping: $0.suspicions) })
        append(array: rows.map { Int16(clamping: $0.app) })
        append(array: rows.map { Int16(clamping: $0.environment) })
        append(array: rows.map { Int16(clamping: $0.kind) })
        append(array: rows.map { $0.platform.map { Int16(clamping: $0) } })
        append(array: rows.map { $0.sealed.map { Int16(clamping: $0.keyID) } })
        append(array: rows.map { $0.sealed?.ciphertext })
    }

    /// Appends both columns of a key.
    mutating func append(_ key: Registration.Key) {
        append(key.token)
        append(key.slot)
    }
}

extension StoredRow {
    /// Reads the columns of a row.
    ///
    /// - Throws: ``PostgresError`` of code `unexpectedResult` if a column is missing, has another type, or is null
    ///   although it must have a value.
    init(_ rows: borrowing PostgresRows, row: Int) throws(PostgresError) {
        self.init(
            key: try Registration.Key(rows, row: row, column: 0), deviceKey: try rows.optional(row: row, column: 3),
            registeredAt: try rows.value(row: row, column: 5), endedAt: try rows.optional(row: row, column: 6),
            app: Int(try rows.value(Int16.self, row: row, column: 10)),
            environment: Int(try rows.value(Int16.self, row: row, column: 11)),
            kind: Int(try rows.value(Int16.self, row: row, column: 12)))
        userKey = try rows.optional(row: row, column: 2)
        scopeKey = try rows.optional(row: row, column: 4)
        expiresAt = try rows.optional(row: row, column: 7)
        suspectSince = try rows.optional(row: row, column: 8)
        suspicions = Int(try rows.value(Int16.self, row: row, column: 9))
        platform = try rows.optional(Int16.self, row: row, column: 13).map { Int($0) }
        sealed = try RowCipher.Sealed(rows, row: row, column: 14)
    }

    static func all(in rows: borrowing PostgresRows) throws(PostgresError) -> [StoredRow] {
        var all: [StoredRow] = []
        all.reserveCapacity(rows.count)
        for row in 0..<rows.count { all.append(try StoredRow(rows, row: row)) }
        return all
    }
}

extension Registration.Key {
    /// Reads a key from a column and the next one.
    init(_ rows: borrowing PostgresRows, row: Int, column: Int) throws(PostgresError) {
        self.init(
            token: try rows.value(row: row, column: column), slot: try rows.value(row: row, column: column + 1))
    }
}

extension RowCipher.Sealed {
    /// Reads the id of a data key from a column and a ciphertext from the next one. Nil if either is null.
    init?(_ rows: borrowing PostgresRows, row: Int, column: Int) throws(PostgresError) {
        guard let keyID = try rows.optional(Int16.self, row: row, column: column),
            let ciphertext = try rows.optional([UInt8].self, row: row, column: column + 1)
        else { return nil }
        self.init(keyID: Int(keyID), ciphertext: ciphertext)
    }
}
