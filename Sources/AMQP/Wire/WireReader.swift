/// A reader of AMQP's elementary types in a peer's bytes (AMQP 0-9-1, section 4.2.5). Every read is bounds-checked.
/// nil means that too few bytes remain.
package struct WireReader {
    package private(set) var rest: UnsafeRawBufferPointer

    package init(_ bytes: UnsafeRawBufferPointer) {
        rest = bytes
    }

    package var isAtEnd: Bool { rest.isEmpty }

    package mutating func octet() -> UInt8? {
        integer(UInt8.self)
    }

    /// Reads an octet of packed bits and returns the first bit.
    mutating func bit() -> Bool? {
        octet().map { $0 & 1 != 0 }
    }

    package mutating func short() -> UInt16? {
        integer(UInt16.self)
    }

    package mutating func long() -> UInt32? {
        integer(UInt32.self)
    }

    package mutating func longLong() -> UInt64? {
        integer(UInt64.self)
    }

    @inline(__always)
    package mutating func shortString() -> UnsafeRawBufferPointer? {
        octet().flatMap { bytes(Int($0)) }
    }

    /// Reads a long string. Tables and arrays have the same length prefix.
    package mutating func longString() -> UnsafeRawBufferPointer? {
        long().flatMap { bytes(Int($0)) }
    }

    @inline(__always)
    package mutating func bytes(_ count: Int) -> UnsafeRawBufferPointer? {
        guard count <= rest.count else { return nil }
        let bytes = UnsafeRawBufferPointer(rebasing: rest[..<count])
        rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        return bytes
    }

    private mutating func integer<Integer: FixedWidthInteger>(_: Integer.Type) -> Integer? {
        bytes(MemoryLayout<Integer>.size).map { Integer(bigEndian: $0.loadUnaligned(as: Integer.self)) }
    }
}

extension String {
    /// Decodes a peer's string. Invalid UTF-8 becomes replacement characters.
    package init(wire bytes: UnsafeRawBufferPointer) {
        self.init(decoding: bytes, as: UTF8.self)
    }
}
