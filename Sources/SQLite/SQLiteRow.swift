import CSQLite

/// The current row of a running statement. Columns count from 0.
///
/// The functions do not convert values. A column must hold the requested type.
public struct SQLiteRow: ~Copyable {
    private let statement: OpaquePointer

    init(_ statement: OpaquePointer) { self.statement = statement }

    public func isNull(_ column: Int) -> Bool { type(column) == SQLITE_NULL }

    /// Returns the integer in a column.
    ///
    /// - Throws: ``SQLiteError`` of code `value` if the column holds no integer.
    public func int64(_ column: Int) throws(SQLiteError) -> Int64 {
        try require(SQLITE_INTEGER, column)
        return martlet_sqlite_column_int64(statement, Int32(column))
    }

    /// Returns the integer in a column; nil for NULL.
    ///
    /// - Throws: ``SQLiteError`` of code `value` if the column holds neither an integer nor NULL.
    public func int64OrNil(_ column: Int) throws(SQLiteError) -> Int64? { isNull(column) ? nil : try int64(column) }

    /// Returns the floating-point number in a column.
    ///
    /// - Throws: ``SQLiteError`` of code `value` if the column holds no floating-point number.
    public func double(_ column: Int) throws(SQLiteError) -> Double {
        try require(SQLITE_FLOAT, column)
        return martlet_sqlite_column_double(statement, Int32(column))
    }

    /// Returns the floating-point number in a column; nil for NULL.
    ///
    /// - Throws: ``SQLiteError`` of code `value` if the column holds neither a floating-point number nor NULL.
    public func doubleOrNil(_ column: Int) throws(SQLiteError) -> Double? { isNull(column) ? nil : try double(column) }

    /// Returns the text in a column.
    ///
    /// - Throws: ``SQLiteError`` of code `value` if the column holds no text or text that is not UTF-8. The code is
    ///   `memory` if memory is exhausted.
    public func text(_ column: Int) throws(SQLiteError) -> String {
        try require(SQLITE3_TEXT, column)
        let bytes = martlet_sqlite_column_text(statement, Int32(column))
        let count = martlet_sqlite_column_bytes(statement, Int32(column))
        guard let bytes else { throw Self.noMemory }
        let text = String(validating: UnsafeBufferPointer(start: bytes, count: Int(count)), as: UTF8.self)
        guard let text else {
            throw SQLiteError(.value, "cannot read column \(column) of a row: the text is not UTF-8")
        }
        return text
    }

    /// Returns the text in a column; nil for NULL.
    ///
    /// - Throws: ``SQLiteError`` of code `value` if the column holds neither UTF-8 text nor NULL, or of code `memory`
    ///   if memory is exhausted.
    public func textOrNil(_ column: Int) throws(SQLiteError) -> String? { isNull(column) ? nil : try text(column) }

    /// Calls `body` with the bytes of a blob, without copying them, and returns its result. The bytes are valid only
    /// during the call.
    ///
    /// - Throws: ``SQLiteError`` of code `value` if the column holds no blob, or of code `memory` if memory is
    ///   exhausted. Also throws the errors of `body`.
    public func withBlob<Value>(
        _ column: Int, _ body: (UnsafeRawBufferPointer) throws(SQLiteError) -> Value
    ) throws(SQLiteError) -> Value {
        try require(SQLITE_BLOB, column)
        let bytes = martlet_sqlite_column_blob(statement, Int32(column))
        let count = Int(martlet_sqlite_column_bytes(statement, Int32(column)))
        guard bytes != nil || count == 0 else { throw Self.noMemory }
        return try body(UnsafeRawBufferPointer(start: bytes, count: count))
    }

    /// Returns a copy of a blob.
    ///
    /// - Throws: ``SQLiteError`` of code `value` if the column holds no blob, or of code `memory` if memory is
    ///   exhausted.
    public func blob(_ column: Int) throws(SQLiteError) -> [UInt8] {
        try withBlob(column) { bytes throws(SQLiteError) in Array(bytes) }
    }

    /// Returns a copy of a blob; nil for NULL.
    ///
    /// - Throws: ``SQLiteError`` of code `value` if the column holds neither a blob nor NULL, or of code `memory` if
    ///   memory is exhausted.
    public func blobOrNil(_ column: Int) throws(SQLiteError) -> [UInt8]? { isNull(column) ? nil : try blob(column) }

    private func type(_ column: Int) -> Int32 { martlet_sqlite_column_type(statement, Int32(column)) }

    private func require(_ type: Int32, _ column: Int) throws(SQLiteError) {
        guard self.type(column) == type else {
            throw SQLiteError(.value, "cannot read column \(column) of a row: it is missing or has an unexpected type")
        }
    }

    private static var noMemory: SQLiteError {
        SQLiteError(.memory, "cannot read a row: memory is exhausted", extendedCode: SQLITE_NOMEM)
    }
}
