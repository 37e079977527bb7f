public import Crypto

/// What is known of a device token's form: opaque bytes of no fixed size, written in hexadecimal of either case.
public enum DeviceToken {
    /// Sane upper bound; 160 digits were seen, and Apple once spoke of 100 bytes.
    public static let hexDigitsMax = 400

    /// The only check that is safe before sending: some hexadecimal digits, an even number, at most ``hexDigitsMax``.
    /// ASCII is read from bytes, so that digits of other scripts do not pass.
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

    /// A form for logs and error texts which cannot be pushed to: at most the first eight digits and how many follow.
    public static func shortened(_ bytes: some Collection<UInt8>) -> String {
        // A token of a few digits shows half of them, so that it is never told whole.
        let shown = min(8, bytes.count / 2)
        let printable = bytes.prefix(shown).map { isHexDigit($0) ? $0 : UInt8(ascii: "?") }
        return String(decoding: printable, as: UTF8.self) + "…+\(bytes.count - shown)"
    }

    /// A text with everything shortened that may be a token: `digitsMin` hexadecimal digits or more in a row.
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

    /// Whether the byte is a hexadecimal digit of either case in ASCII.
    @inlinable public static func isHexDigit(_ byte: UInt8) -> Bool {
        byte &- UInt8(ascii: "0") < 10 || (byte | 0x20) &- UInt8(ascii: "a") < 6
    }
}
