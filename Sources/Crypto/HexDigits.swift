/// The conversion of eight hexadecimal digits at once. The digits are the bytes of one word, with the first digit in
/// the highest byte.
public enum HexDigits {
    @usableFromInline static let ones: UInt64 = 0x0101_0101_0101_0101
    @usableFromInline static let highBits = ones &* 0x80

    /// Returns the digits of a 32-bit number, in lower case.
    static func text(_ number: UInt64) -> UInt64 {
        var digits = number & 0xFFFF_FFFF
        digits = (digits | digits << 16) & 0x0000_FFFF_0000_FFFF
        digits = (digits | digits << 8) & 0x00FF_00FF_00FF_00FF
        digits = (digits | digits << 4) & 0x0F0F_0F0F_0F0F_0F0F
        let areLetters = (digits &+ ones &* 6) >> 4 & ones
        return digits &+ ones &* UInt64(UInt8(ascii: "0")) &+ areLetters &* 39
    }

    /// Returns the number that digits of either case represent; nil if a byte is not a digit.
    static func value(_ text: UInt64) -> UInt64? {
        guard areAll(text) else { return nil }
        let areLetters = text >> 6 & ones
        var digits = (text & (ones &* 0x0F)) &+ areLetters &* 9
        digits = (digits | digits >> 4) & 0x00FF_00FF_00FF_00FF
        digits = (digits | digits >> 8) & 0x0000_FFFF_0000_FFFF
        return (digits | digits >> 16) & 0xFFFF_FFFF
    }

    /// Returns whether all bytes are digits, of either case.
    @inlinable public static func areAll(_ text: UInt64) -> Bool {
        guard text & highBits == 0 else { return false }
        let lower = text | ones &* 0x20
        // Returns a word with the high bit set in each byte that is at least `least`.
        func isAtLeast(_ least: UInt8) -> UInt64 { lower &+ ones &* UInt64(0x80 - least) }
        let areLetters = isAtLeast(UInt8(ascii: "a")) & ~isAtLeast(UInt8(ascii: "f") + 1)
        // Setting bit 0x20 changes no decimal digit. `text << 2` excludes the other bytes that become digits when the
        // bit is set.
        let areDigits = isAtLeast(UInt8(ascii: "0")) & ~isAtLeast(UInt8(ascii: "9") + 1) & (text << 2)
        return (areLetters | areDigits) & highBits == highBits
    }
}
