extension Character {
    /// Number of terminal columns, which is two for East Asian wide characters and most emoji (UAX #11), else one.
    public var columns: Int {
        guard let first = unicodeScalars.first, first.value >= 0x1100 else { return 1 }
        let isWide = first.properties.isEmojiPresentation || Self.wide.contains { $0.contains(first.value) }
        return isWide || unicodeScalars.contains("\u{FE0F}") ? 2 : 1
    }

    /// The ranges of Hangul, CJK and Yi with their punctuation, of compatibility and full-width forms, and of the wide
    /// blocks beyond the BMP.
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0xA4CF, 0xA960...0xA97F,
        0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF01...0xFF60, 0xFFE0...0xFFE6, 0x16FE0...0x18DFF,
        0x1AFF0...0x1B2FF, 0x20000...0x3FFFD,
    ]
}

extension Sequence<Character> {
    /// Number of terminal columns of all characters together.
    public var columns: Int { reduce(0) { $0 + $1.columns } }
}
