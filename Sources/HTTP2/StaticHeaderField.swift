import Glibc

/// The subset of HPACK's static table that requests to APNs use (RFC 7541, appendix A).
enum StaticHeaderField {
    /// Returns the index of an entry with this name and value; nil if no entry matches.
    static func index(of name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Int? {
        guard name.first == UInt8(ascii: ":") else { return nil }
        if name.isSame(as: ":method") { return value.isSame(as: "POST") ? 3 : value.isSame(as: "GET") ? 2 : nil }
        if name.isSame(as: ":scheme") { return value.isSame(as: "https") ? 7 : nil }
        return nil
    }

    /// Returns the index of an entry with this name; nil if no entry matches.
    static func index(of name: UnsafeRawBufferPointer) -> Int? {
        guard name.first == UInt8(ascii: ":") else { return name.isSame(as: "authorization") ? 23 : nil }
        if name.isSame(as: ":path") { return 4 }
        if name.isSame(as: ":authority") { return 1 }
        if name.isSame(as: ":method") { return 2 }
        return name.isSame(as: ":scheme") ? 6 : nil
    }
}

extension UnsafeRawBufferPointer {
    @inline(__always) func isSame(as text: StaticString) -> Bool {
        isSame(as: UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    @inline(__always) func isSame(as other: UnsafeRawBufferPointer) -> Bool {
        guard count == other.count, let start = baseAddress, let otherStart = other.baseAddress else {
            return isEmpty && other.isEmpty
        }
        return memcmp(start, otherStart, count) == 0
    }
}
