import Glibc

extension UnsafeRawBufferPointer {
    @inline(__always) func isSame(as other: UnsafeRawBufferPointer) -> Bool {
        count == other.count && order(to: other) == 0
    }

    /// Compares with a text of the same length, like `memcmp`.
    func order(to other: UnsafeRawBufferPointer) -> Int {
        guard let start = baseAddress, let otherStart = other.baseAddress else { return 0 }
        return Int(memcmp(start, otherStart, Swift.min(count, other.count)))
    }
}
