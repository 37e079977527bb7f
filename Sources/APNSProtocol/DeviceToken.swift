public import Crypto

/// The form of a device token, which is opaque bytes of variable length in hexadecimal digits of either case.
public enum DeviceToken {
    /// Maximum length in digits. Tokens of 160 digits were observed, and Apple has mentioned 100 bytes.
    public static let hexDigitsMax = 400

    /// Returns whether the token consists of an even number of ASCII hexadecimal digits, from 2 to ``hexDigitsMax``.
    /// Apple guarantees no more about the form, so stricter checks could refuse valid tokens.
    @inlinable public static func isWellFormed(_ bytes: some Collection<UInt8>) -> Bool {
        let count = bytes.count
        guard count > 0, count <= hexDigitsMax, count % 2 == 0 else { return false }
        return bytes.withContiguousStorageIfAvailable(areHexDigits) ?? bytes.allSatisfy(isHexDigit)
    }

    @inlinable static func areHexDigits(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        let raw = UnsafeRawBufferPointer(bytes)
        let wordsEnd = raw.count & ~7
        for offset in stride(from: 0, to: wordsEnd, by: 8) {
            guard HexDigits.areAll(raw.loadUnaligned(fromByteOffset: offset, as: UInt64.self)) else { return false }
        }
        return raw[wordsEnd...].allSatisfy(isHexDigit)
    }

    /// Returns a form for logs and error messages that does not reveal the token. The form has at most the first eight
    /// digits and the number of the other digits.
    public static func shortened(_ bytes: some Collection<UInt8>) -> String {
        // Show only half of a short token, since eight digits might be the whole token.
        let shown = min(8, bytes.count / 2)
        let printable = bytes.prefix(shown).map { isHexDigit($0) ? $0 : UInt8(ascii: "?") }
        return String(decoding: printable, as: UTF8.self) + "…+\(bytes.count - shown)"
    }

    /// Returns the text with each run of at least `digitsMin` hexadecimal digits shortened, since the run may be a
    /// token.
    public static func shortened(in text: some Collection<UInt8>, digitsMin: Int) -> [UInt8] {
        var shown: [UInt8] = []
        var rest = text[...]
        while let first = rest.first {
            let run = rest.prefix { isHexDigit($0) == isHexDigit(first) }
            if isHexDigit(first), run.count >= digitsMin {
                shown += shortened(run).utf8
            } else {
                shown += run
            }
            rest = rest[run.endIndex...]
        }
        return shown
    }

    /// Returns whether the byte is a hexadecimal digit of either case in ASCII.
    @inlinable public static func isHexDigit(_ byte: UInt8) -> Bool {
        byte &- UInt8(ascii: "0") < 10 || (byte | 0x20) &- UInt8(ascii: "a") < 6
    }
}
