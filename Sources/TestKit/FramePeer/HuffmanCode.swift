/// HPACK's Huffman code (RFC 7541, appendix B).
///
/// The code is canonical. Code values increase with length, and with the symbol among codes of equal length. The
/// lengths therefore define the code.
enum HuffmanCode {
    /// The code length of each byte in bits. The 257th entry is EOS, which never occurs in a text.
    private static let lengths: [UInt8] = [
        13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28,
        28, 28, 28, 28, 6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6, 5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15,
        6, 12, 10, 13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6,
        15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5, 6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28, 20, 22,
        20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23, 24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23,
        23, 24, 22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23, 21, 21, 22, 21, 23, 22, 23, 23, 20, 22,
        22, 22, 23, 22, 22, 23, 26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25, 19, 21, 26, 27, 27, 26,
        27, 24, 21, 21, 26, 26, 28, 27, 27, 27, 20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23, 26, 27,
        26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26, 30,
    ]

    private struct Code: Hashable {
        var bits: UInt32
        var length: UInt8
    }

    private static let codes: [Code] = {
        var codes = [Code](repeating: Code(bits: 0, length: 0), count: lengths.count)
        var next: UInt32 = 0
        var length: UInt8 = 0
        for symbol in lengths.indices.sorted(by: { (lengths[$0], $0) < (lengths[$1], $1) }) {
            next <<= UInt32(lengths[symbol] - length)
            length = lengths[symbol]
            codes[symbol] = Code(bits: next, length: length)
            next += 1
        }
        return codes
    }()

    private static let symbols = Dictionary(uniqueKeysWithValues: zip(codes, 0...256))

    static func encode(_ text: some Sequence<UInt8>) -> [UInt8] {
        var bytes: [UInt8] = []
        var bits: UInt64 = 0
        var count: UInt64 = 0
        for byte in text {
            let code = codes[Int(byte)]
            bits = bits << UInt64(code.length) | UInt64(code.bits)
            count += UInt64(code.length)
            while count >= 8 {
                count -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> count))
            }
        }
        // The padding is a prefix of the EOS code, which consists of ones.
        if count > 0 { bytes.append(UInt8(truncatingIfNeeded: bits << (8 - count) | 0xFF >> count)) }
        return bytes
    }

    /// Returns the decoded bytes, or nil if the code is invalid.
    static func decode(_ bytes: some Sequence<UInt8>) -> [UInt8]? {
        var text: [UInt8] = []
        var code = Code(bits: 0, length: 0)
        for byte in bytes {
            for shift in (0..<8 as Range<UInt8>).reversed() {
                code = Code(bits: code.bits << 1 | UInt32(byte >> shift & 1), length: code.length + 1)
                if let symbol = symbols[code] {
                    guard let byte = UInt8(exactly: symbol) else { return nil }
                    text.append(byte)
                    code = Code(bits: 0, length: 0)
                } else if code.length > 30 {
                    return nil
                }
            }
        }
        let isPadding = code.length < 8 && code.bits == (1 << UInt32(code.length)) - 1
        return isPadding ? text : nil
    }
}
