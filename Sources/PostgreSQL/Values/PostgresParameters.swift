/// The parameters of one statement in PostgreSQL's binary format, in one buffer.
public struct PostgresParameters: Sendable {
    /// Maximum number of elements of an array. The format stores the number as a signed 32-bit integer.
    public static let arrayCountMax = Int(Int32.max)

    @usableFromInline var bytes: [UInt8] = []
    /// For each parameter, the end of its value in `bytes`, and whether it is null.
    @usableFromInline var ends: [(end: Int, isNull: Bool)] = []

    public init() {}

    /// Reserves space for the values of later parameters.
    public mutating func reserve(bytes count: Int) {
        bytes.reserveCapacity(bytes.count + count)
    }

    public var count: Int { ends.count }

    /// Appends a value; nil is null.
    @inlinable
    public mutating func append<Value: PostgresValue>(_ value: Value?) {
        value?.write(to: &bytes)
        ends.append((bytes.count, value == nil))
    }

    /// Appends an array of one dimension.
    @inlinable
    public mutating func append<Value: PostgresValue>(array values: [Value]) {
        beginArray(of: Value.self, count: values.count, hasNull: false)
        for value in values {
            bytes.append(bigEndian: Int32(value.binaryBytes))
            value.write(to: &bytes)
        }
        ends.append((bytes.count, false))
    }

    /// Appends an array of one dimension; nil elements are null.
    @inlinable
    public mutating func append<Value: PostgresValue>(array values: [Value?]) {
        beginArray(of: Value.self, count: values.count, hasNull: values.contains { $0 == nil })
        for value in values {
            bytes.append(bigEndian: value.map { Int32($0.binaryBytes) } ?? -1)
            value?.write(to: &bytes)
        }
        ends.append((bytes.count, false))
    }

    @inlinable
    mutating func beginArray<Value: PostgresValue>(of type: Value.Type, count: Int, hasNull: Bool) {
        precondition(count <= Self.arrayCountMax, "too many elements for an array")
        bytes.append(bigEndian: Int32(count == 0 ? 0 : 1))
        bytes.append(bigEndian: Int32(hasNull ? 1 : 0))
        bytes.append(bigEndian: Value.type.rawValue)
        guard count > 0 else { return }
        bytes.append(bigEndian: Int32(count))
        // The index of the first element.
        bytes.append(bigEndian: Int32(1))
    }

    /// Calls `body` with pointers to the values, their lengths, and their formats (1 is binary), valid during the call.
    func withPointers<Result>(
        _ body: (UnsafePointer<UnsafePointer<CChar>?>?, UnsafePointer<Int32>?, UnsafePointer<Int32>?) -> Result
    ) -> Result {
        let count = ends.count
        return bytes.withUnsafeBytes { bytes in
            withUnsafeTemporaryAllocation(of: UnsafePointer<CChar>?.self, capacity: count) { values in
                withUnsafeTemporaryAllocation(of: Int32.self, capacity: 2 * count) { numbers in
                    var start = 0
                    for (index, value) in ends.enumerated() {
                        let pointer = bytes.baseAddress.map { ($0 + start).assumingMemoryBound(to: CChar.self) }
                        values.initializeElement(
                            at: index, to: value.isNull ? nil : pointer ?? Self.emptyValue)
                        numbers.initializeElement(at: index, to: Int32(value.end - start))
                        numbers.initializeElement(at: count + index, to: 1)
                        start = value.end
                    }
                    let lengths = numbers.baseAddress.map { UnsafePointer($0) }
                    return body(values.baseAddress.map { UnsafePointer($0) }, lengths, lengths.map { $0 + count })
                }
            }
        }
    }

    /// The pointer of an empty value if `bytes` has no memory. libpq does not read it, but a null pointer would mean
    /// null.
    private static var emptyValue: UnsafePointer<CChar>? { UnsafePointer(bitPattern: 1) }
}
