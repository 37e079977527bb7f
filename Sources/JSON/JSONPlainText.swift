/// A search for bytes that end a run of plain text in a JSON string, eight bytes at a time.
enum JSONPlainText {
    /// Returns a word with the high bit set in each marked byte. Quotes, backslashes, control characters and bytes that
    /// are not ASCII are marked. A borrow can produce false marks only above a correct mark, so only the lowest mark is
    /// reliable.
    @inline(__always) static func marks(in word: UInt64) -> UInt64 {
        let ones: UInt64 = 0x0101_0101_0101_0101
        return (word | (word &- ones &* 0x20) | ((word ^ ones &* 0x22) &- ones) | ((word ^ ones &* 0x5C) &- ones))
            & (ones &* 0x80)
    }
}
