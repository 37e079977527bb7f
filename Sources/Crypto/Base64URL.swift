/// Base64url without padding, as in JSON Web Signatures (RFC 7515, 2).
public enum Base64URL {
    private static let alphabet: StaticString = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

    public static func encode(_ bytes: [UInt8]) -> String {
        String(unsafeUninitializedCapacity: (bytes.count * 4 + 2) / 3) { text in
            var length = 0
            func put(_ sextet: UInt32) {
                text[length] = alphabet.utf8Start[Int(sextet & 63)]
                length += 1
            }
            var index = 0
            while index < bytes.count {
                let rest = bytes.count - index
                let second = rest > 1 ? UInt32(bytes[index + 1]) : 0
                let third = rest > 2 ? UInt32(bytes[index + 2]) : 0
                let group = UInt32(bytes[index]) << 16 | second << 8 | third
                put(group >> 18)
                put(group >> 12)
                if rest > 1 { put(group >> 6) }
                if rest > 2 { put(group) }
                index += 3
            }
            return length
        }
    }

    /// Decodes base64url. Returns nil unless `text` is a possible result of `encode`: no padding, no white space, no
    /// other characters, no excess bits.
    public static func decode(_ text: UnsafeRawBufferPointer) -> [UInt8]? {
        guard text.count % 4 != 1 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count * 3 / 4)
        var bits: UInt32 = 0
        var bitCount = 0
        for character in text {
            guard let sextet = value(of: character) else { return nil }
            bits = bits << 6 | sextet
            bitCount += 6
            guard bitCount >= 8 else { continue }
            bitCount -= 8
            bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(bitCount)))
            bits &= (1 << UInt32(bitCount)) - 1
        }
        return bits == 0 ? bytes : nil
    }

    /// Decodes base64url. Returns nil unless `text` is a possible result of `encode`.
    public static func decode(_ text: String) -> [UInt8]? {
        var text = text
        return text.withUTF8 { decode(UnsafeRawBufferPointer($0)) }
    }

    private static func value(of character: UInt8) -> UInt32? {
        switch character {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(character - UInt8(ascii: "A"))
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(character - UInt8(ascii: "a")) + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(character - UInt8(ascii: "0")) + 52
        case UInt8(ascii: "-"): 62
        case UInt8(ascii: "_"): 63
        default: nil
        }
    }
}
