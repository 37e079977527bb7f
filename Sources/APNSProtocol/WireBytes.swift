import Glibc

// Protocol words are `StaticString`s: they cost nothing to hold and are compared with a peer's bytes without a `String`.

extension StaticString {
    /// The text's bytes; they live as long as the process.
    @inlinable public var bytes: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: utf8Start, count: utf8CodeUnitCount)
    }
}

extension UnsafeRawBufferPointer {
    /// Whether these bytes are exactly the text's.
    @inlinable public func equals(_ text: StaticString) -> Bool { equals(text.bytes) }

    /// Whether these bytes are exactly the other's.
    public func equals(_ other: UnsafeRawBufferPointer) -> Bool {
        guard count == other.count else { return false }
        guard let mine = baseAddress, let theirs = other.baseAddress else { return true }
        return memcmp(mine, theirs, count) == 0
    }
}
