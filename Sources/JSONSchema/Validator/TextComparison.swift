import Glibc

extension UnsafeRawBufferPointer {
    /// The same bytes.
    @inline(__always) func isSame(as other: UnsafeRawBufferPointer) -> Bool {
        count == other.count && order(to: other) == 0
    }

    /// Below, at or above zero as this text stands before, with or behind another of the same length.
    func order(to other: UnsafeRawBufferPointer) -> Int {
        guard let start = baseAddress, let otherStart = other.baseAddress else { return 0 }
        return Int(memcmp(start, otherStart, Swift.min(count, other.count)))
    }
}
