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

    public var count: Int { Int(martlet_pq_row_count(result)) }

    /// The number of rows that the statement returned, inserted, updated or deleted.
    public var affectedCount: Int { Int(String(cString: martlet_pq_affected_rows(result))) ?? 0 }

    /// Whether the command tag is ROLLBACK. The server also answers the COMMIT of a failed transaction with this tag.
    var isRollback: Bool { strcmp(martlet_pq_command_status(result), "ROLLBACK") == 0 }

    /// Calls `body` with the bytes of a value in the binary format, or with nil for null. The bytes are valid during
    /// the call.
    ///
    /// - Precondition: `row` and `column` exist.
    @inlinable
    public func withBytes<Result, Failure: Error>(
        row: Int, column: Int, _ body: (UnsafeRawBufferPointer?) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(bytes(row: row, column: column))
    }

    /// Returns a value; nil for null.
    ///
    /// - Throws: ``PostgresError`` of code `unexpectedResult` if the column does not exist or has another type, or the
    ///   value is malformed.
    /// - Precondition: `row` exists.
    @inlinable
    public func optional<Value: PostgresValue>(
        _ type: Value.Type = Value.self, row: Int, column: Int
    ) throws(PostgresError) -> Value? {
        guard let bytes = try bytes(row: row, column: column, type: Value.type) else { return nil }
        guard let value = Value(binary: bytes) else { throw Self.unexpected(column, Value.type) }
        return value
    }

    /// Returns a value.
    ///
    /// - Throws: ``PostgresError`` of code `unexpectedResult` if the column does not exist or has another type, or the
    ///   value is null or malformed.
    /// - Precondition: `row` exists.
    @inlinable
    public func value<Value: PostgresValue>(
        _ type: Value.Type = Value.self, row: Int, column: Int
    ) throws(PostgresError) -> Value {
        guard let bytes = try bytes(row: row, column: column, type: Value.type), let value = Value(binary: bytes) else {
            throw Self.unexpected(column, Value.type)
        }
        return value
    }

    /// Returns the bytes of a `bytea`; nil for null. The bytes are valid as long as the rows.
    ///
    /// - Throws: ``PostgresError`` of code `unexpectedResult` if the column does not exist or has another type.
    /// - Precondition: `row` exists.
    public func bytea(row: Int, column: Int) throws(PostgresError) -> UnsafeRawBufferPointer? {
        try bytes(row: row, column: column, type: .bytea)
    }

    /// Returns the elements of an array of one dimension.
    ///
    /// - Throws: ``PostgresError`` of code `unexpectedResult` if the column does not exist or has another type. Also if
    ///   the array is null or malformed, has a null element, or has more than one dimension.
    /// - Precondition: `row` exists.
    public func array<Value: PostgresValue>(
        of type: Value.Type = Value.self, row: Int, column: Int
    ) throws(PostgresError) -> [Value] {
        guard let bytes = try bytes(row: row, column: column, type: Value.arrayType),
            let values = Self.elements(of: bytes, as: Value.self)
        else { throw Self.unexpected(column, Value.arrayType) }
        return values
    }

    /// Returns the bytes of a value; nil for null. The bytes are valid as long as the rows.
    ///
    /// - Throws: ``PostgresError`` of code `unexpectedResult` if the column does not exist or has another type.
    @usableFromInline
    func bytes(row: Int, column: Int, type: PostgresType) throws(PostgresError) -> UnsafeRawBufferPointer? {
        guard martlet_pq_column_type(result, Int32(column)) == type.rawValue else {
            throw Self.unexpected(column, type)
        }
        return value(row, column)
    }

    @usableFromInline
    func bytes(row: Int, column: Int) -> UnsafeRawBufferPointer? {
        precondition(martlet_pq_column_type(result, Int32(column)) != 0, "no such column")
        return value(row, column)
    }

    private func value(_ row: Int, _ column: Int) -> UnsafeRawBufferPointer? {
        precondition(row >= 0 && row < count, "no such row")
        var length: Int32 = 0
        return martlet_pq_value(result, Int32(row), Int32(column), &length).map {
            UnsafeRawBufferPointer(start: $0, count: Int(length))
        }
    }

    @usableFromInline
    static func unexpected(_ column: Int, _ type: PostgresType) -> PostgresError {
        PostgresError(
            .unexpectedResult, "column \(column + 1) of the result is missing, null, malformed or not of type \(type)")
    }

    /// Returns the elements of an array in the binary format. Returns nil if the array is malformed, has another
    /// element type, a null element, or more than one dimension.
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
        // The length of each element takes 4 bytes, which bounds the count.
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
