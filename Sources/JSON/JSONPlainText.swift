/// Text that stands in a JSON string as it is, looked at eight bytes at a time.
enum JSONPlainText {
    /// The high bit of each byte that is a quote, a backslash, a control character or not ASCII. A borrow can spoil only bytes
    /// above one that is marked rightly: the lowest mark counts, or that there is one.
    @inline(__always) static func marks(in word: UInt64) -> UInt64 {
        let ones: UInt64 = 0x0101_0101_0101_0101
        return (word | (word &- ones &* 0x20) | ((word ^ ones &* 0x22) &- ones) | ((word ^ ones &* 0x5C) &- ones))
            & (ones &* 0x80)
    }
}
