import Glibc

// Protocol constants are `StaticString`s, which need no allocation and are compared with received bytes without a
// `String`.

extension StaticString {
    /// The bytes of the text, valid for the lifetime of the process.
    @inlinable public var bytes: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: utf8Start, count: utf8CodeUnitCount)
    }
}

extension UnsafeRawBufferPointer {
    /// Returns whether the bytes equal those of the text.
    @inlinable public func equals(_ text: StaticString) -> Bool { equals(text.bytes) }

    /// Returns whether the bytes equal the bytes of `other`.
    public func equals(_ other: UnsafeRawBufferPointer) -> Bool {
        guard count == other.count else { return false }
        guard let mine = baseAddress, let theirs = other.baseAddress else { return true }
        return memcmp(mine, theirs, count) == 0
    }
}
