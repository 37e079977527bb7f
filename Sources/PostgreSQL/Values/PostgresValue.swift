public import Crypto

/// A value that has a representation in PostgreSQL's binary format.
public protocol PostgresValue: Sendable {
    static var type: PostgresType { get }
    static var arrayType: PostgresType { get }
    /// The number of bytes of the value in the binary format.
    var binaryBytes: Int { get }
    /// Appends exactly `binaryBytes` bytes.
    func write(to bytes: inout [UInt8])
    /// Returns nil if the bytes are not the binary format of this type.
    init?(binary bytes: UnsafeRawBufferPointer)
}

extension [UInt8] {
    /// Appends an integer in network byte order.
    @inlinable
    mutating func append<Number: FixedWidthInteger>(bigEndian number: Number) {
        Swift.withUnsafeBytes(of: number.bigEndian) { append(contentsOf: $0) }
    }
}

extension FixedWidthInteger {
    /// Reads an integer in network byte order; nil if the length differs.
    @inlinable
    init?(bigEndianBytes bytes: UnsafeRawBufferPointer) {
        guard bytes.count == MemoryLayout<Self>.size else { return nil }
        self.init(bigEndian: bytes.loadUnaligned(as: Self.self))
    }
}

extension Int16: PostgresValue {
    public static var type: PostgresType { .int2 }
    public static var arrayType: PostgresType { .int2Array }
    @inlinable public var binaryBytes: Int { 2 }
    @inlinable public func write(to bytes: inout [UInt8]) { bytes.append(bigEndian: self) }
    @inlinable public init?(binary bytes: UnsafeRawBufferPointer) { self.init(bigEndianBytes: bytes) }
}

extension Int32: PostgresValue {
    public static var type: PostgresType { .int4 }
    public static var arrayType: PostgresType { .int4Array }
    @inlinable public var binaryBytes: Int { 4 }
    @inlinable public func write(to bytes: inout [UInt8]) { bytes.append(bigEndian: self) }
    @inlinable public init?(binary bytes: UnsafeRawBufferPointer) { self.init(bigEndianBytes: bytes) }
}

extension Int64: PostgresValue {
    public static var type: PostgresType { .int8 }
    public static var arrayType: PostgresType { .int8Array }
    @inlinable public var binaryBytes: Int { 8 }
    @inlinable public func write(to bytes: inout [UInt8]) { bytes.append(bigEndian: self) }
    @inlinable public init?(binary bytes: UnsafeRawBufferPointer) { self.init(bigEndianBytes: bytes) }
}

extension Bool: PostgresValue {
    public static var type: PostgresType { .bool }
    public static var arrayType: PostgresType { .boolArray }
    @inlinable public var binaryBytes: Int { 1 }
    @inlinable public func write(to bytes: inout [UInt8]) { bytes.append(self ? 1 : 0) }

    @inlinable
    public init?(binary bytes: UnsafeRawBufferPointer) {
        guard bytes.count == 1, bytes[0] <= 1 else { return nil }
        self = bytes[0] == 1
    }
}

extension UUIDValue: PostgresValue {
    public static var type: PostgresType { .uuid }
    public static var arrayType: PostgresType { .uuidArray }
    @inlinable public var binaryBytes: Int { 16 }

    @inlinable
    public func write(to bytes: inout [UInt8]) {
        bytes.append(bigEndian: high)
        bytes.append(bigEndian: low)
    }

    @inlinable
    public init?(binary bytes: UnsafeRawBufferPointer) {
        guard bytes.count == 16 else { return nil }
        self.init(
            high: UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
            low: UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
    }
}

extension String: PostgresValue {
    public static var type: PostgresType { .text }
    public static var arrayType: PostgresType { .textArray }
    @inlinable public var binaryBytes: Int { utf8.count }
    @inlinable public func write(to bytes: inout [UInt8]) { bytes.append(contentsOf: utf8) }
    @inlinable public init?(binary bytes: UnsafeRawBufferPointer) { self.init(validating: bytes, as: UTF8.self) }
}

extension Array: PostgresValue where Element == UInt8 {
    public static var type: PostgresType { .bytea }
    public static var arrayType: PostgresType { .byteaArray }
    @inlinable public var binaryBytes: Int { count }
    @inlinable public func write(to bytes: inout [UInt8]) { bytes.append(contentsOf: self) }
    @inlinable public init?(binary bytes: UnsafeRawBufferPointer) { self.init(bytes) }
}
