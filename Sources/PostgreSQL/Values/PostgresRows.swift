import CPostgreSQL
import Glibc

/// The rows of a result, in libpq's memory. Valid during the call that receives them.
public struct PostgresRows: ~Copyable {
    private let result: OpaquePointer

    /// Takes ownership of a `PGresult`.
    init(owning result: OpaquePointer) {
        self.result = result
    }

    deinit { martlet_pq_clear(result) }

    /// The number of rows.
    public var count: Int { Int(martlet_pq_row_count(result)) }

    /// The number of rows that the statement returned, inserted, updated or deleted.
    public var affectedCount: Int { Int(String(cString: martlet_pq_affected_rows(result))) ?? 0 }

    /// Whether the statement was a COMMIT that the server answered with ROLLBACK.
    var isRollback: Bool { strcmp(martlet_pq_command_status(result), "ROLLBACK") == 0 }

    /// Calls `body` with the bytes of a value in the binary format, valid during the call; nil for null.
    ///
    /// - Precondition: `row` and `column` exist.
    public func withBytes<Result, Failure: Error>(
        row: Int, column: Int, _ body: (UnsafeRawBufferPointer?) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        precondition(
            row >= 0 && row < count && column >= 0 && column < martlet_pq_column_count(result), "no such value")
        let (row, column) = (Int32(row), Int32(column))
        guard martlet_pq_is_null(result, row, column) == 0 else { return try body(nil) }
        let length = Int(martlet_pq_value_length(result, row, column))
        return try body(UnsafeRawBufferPointer(start: martlet_pq_value(result, row, column), count: length))
    }

    /// Returns a value; nil for null.
    ///
    /// - Throws: ``PostgresError`` of code `unexpectedResult` if the column does not exist or has another type.
    public func optional<Value: PostgresValue>(
        _ type: Value.Type = Value.self, row: Int, column: Int
    ) throws(PostgresError) -> Value? {
        try check(column, is: Value.type)
        return try withBytes(row: row, column: column) { (bytes) throws(PostgresError) -> Value? in
            guard let bytes else { return nil }
            guard let value = Value(binary: bytes) else { throw Self.unexpected(column, Value.type) }
            return value
        }
    }

    /// Returns a value.
    ///
    /// - Throws: ``PostgresError`` of code `unexpectedResult` if the column does not exist or has another type, or the
    ///   value is null.
    public func value<Value: PostgresValue>(
        _ type: Value.Type = Value.self, row: Int, column: Int
    ) throws(PostgresError) -> Value {
        guard let value = try optional(type, row: row, column: column) else {
            throw Self.unexpected(column, Value.type)
        }
        return value
    }

    /// Returns the elements of an array of one dimension.
    ///
    /// - Throws: ``PostgresError`` of code `unexpectedResult` if the column does not exist or has another type, or the
    ///   array is null, has a null element, or more than one dimension.
    public func array<Value: PostgresValue>(
        of type: Value.Type = Value.self, row: Int, column: Int
    ) throws(PostgresError) -> [Value] {
        try check(column, is: Value.arrayType)
        return try withBytes(row: row, column: column) { (bytes) throws(PostgresError) -> [Value] in
            guard let bytes, let values = Self.elements(of: bytes, as: Value.self) else {
                throw Self.unexpected(column, Value.arrayType)
            }
            return values
        }
    }

    private func check(_ column: Int, is type: PostgresType) throws(PostgresError) {
        guard column < martlet_pq_column_count(result),
            martlet_pq_column_type(result, Int32(column)) == type.rawValue
        else { throw Self.unexpected(column, type) }
    }

    private static func unexpected(_ column: Int, _ type: PostgresType) -> PostgresError {
        PostgresError(.unexpectedResult, "column \(column + 1) of the result is not of type \(type) and not null")
    }

    /// Parses the binary format of an array. Nil if it is malformed, has a null element, or more than one dimension.
    static func elements<Value: PostgresValue>(of bytes: UnsafeRawBufferPointer, as type: Value.Type) -> [Value]? {
        var rest = bytes[...]
        func next(_ count: Int) -> UnsafeRawBufferPointer? {
            guard count >= 0, count <= rest.count else { return nil }
            defer { rest = rest.dropFirst(count) }
            return UnsafeRawBufferPointer(rebasing: rest.prefix(count))
        }
        func number() -> Int32? { next(4).flatMap { Int32(bigEndianBytes: $0) } }
        guard let dimensions = number(), number() != nil, let element = number(),
            UInt32(bitPattern: element) == Value.type.rawValue
        else { return nil }
        guard dimensions == 1 else { return dimensions == 0 && rest.isEmpty ? [] : nil }
        // Each element has a length of 4 bytes.
        guard let count = number(), number() != nil, count >= 0, Int(count) <= rest.count / 4 else { return nil }
        var values: [Value] = []
        values.reserveCapacity(Int(count))
        for _ in 0..<count {
            guard let length = number(), let bytes = next(Int(length)), let value = Value(binary: bytes) else {
                return nil
            }
            values.append(value)
        }
        return rest.isEmpty ? values : nil
    }
}
