import Glibc
import HTTP2

/// A header in the log. A record begins with one byte for the HPACK representation. The lengths of the name and the
/// value follow, two bytes each. The name and the value follow the lengths.
struct HeaderRecord {
    static let prefixBytes = 5

    let representation: HeaderRepresentation
    let name: UnsafeRawBufferPointer
    let value: UnsafeRawBufferPointer

    /// Appends a record. Names and values are shorter than 64 KiB, because the HTTP/2 session resets streams whose
    /// headers exceed ``Request/headerBytesMax``.
    static func append(
        name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer, _ representation: HeaderRepresentation,
        to store: inout ByteStore
    ) {
        withUnsafeTemporaryAllocation(byteCount: prefixBytes, alignment: 1) { prefix in
            prefix[0] = representation.rawValue
            setCount(name.count, in: prefix, at: 1)
            setCount(value.count, in: prefix, at: 3)
            store.append(UnsafeRawBufferPointer(prefix))
        }
        store.append(name)
        store.append(value)
    }

    /// Writes the length of a value to its record, whose name of `nameCount` bytes precedes the value.
    static func setValueCount(
        _ count: Int, in records: UnsafeMutableRawBufferPointer, valueStart: Int, nameCount: Int
    ) {
        setCount(count, in: records, at: valueStart - nameCount - 2)
    }

    private static func setCount(_ count: Int, in bytes: UnsafeMutableRawBufferPointer, at position: Int) {
        bytes[position] = UInt8(truncatingIfNeeded: count >> 8)
        bytes[position + 1] = UInt8(truncatingIfNeeded: count)
    }

    /// Returns the end of an `authorization` value that must not be logged. In a value with two periods,
    /// such as a provider token, the end is everything from the second period on. In any other value, the end is
    /// everything from the first space on, or the whole value if it contains no space.
    static func secret(in value: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        let period = UInt8(ascii: ".")
        let start = value.index(of: period, from: 0).flatMap { value.index(of: period, from: $0 + 1) }
        return UnsafeRawBufferPointer(rebasing: value[(start ?? value.index(of: UInt8(ascii: " "), from: 0) ?? 0)...])
    }
}

extension UnsafeRawBufferPointer {
    /// Returns the index of the first occurrence of `byte` at or after `start`.
    fileprivate func index(of byte: UInt8, from start: Int) -> Int? {
        guard let baseAddress, start < count else { return nil }
        return memchr(baseAddress + start, Int32(byte), count - start).map { UnsafeRawPointer($0) - baseAddress }
    }
}

/// The consecutive header records of one request.
struct HeaderRecords: Sequence, IteratorProtocol {
    private var rest: UnsafeRawBufferPointer

    init(_ bytes: UnsafeRawBufferPointer) {
        rest = bytes
    }

    mutating func next() -> HeaderRecord? {
        guard rest.count >= HeaderRecord.prefixBytes else { return nil }
        let nameEnd = HeaderRecord.prefixBytes + (Int(rest[1]) << 8 | Int(rest[2]))
        let valueEnd = nameEnd + (Int(rest[3]) << 8 | Int(rest[4]))
        guard rest.count >= valueEnd else { return nil }
        defer { rest = UnsafeRawBufferPointer(rebasing: rest[valueEnd...]) }
        return HeaderRecord(
            representation: HeaderRepresentation(rawValue: rest[0]),
            name: UnsafeRawBufferPointer(rebasing: rest[HeaderRecord.prefixBytes..<nameEnd]),
            value: UnsafeRawBufferPointer(rebasing: rest[nameEnd..<valueEnd]))
    }
}
