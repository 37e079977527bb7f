/// A stateless HPACK encoder (RFC 7541, section 6). A test chooses the representation of each field.
public enum HPACKWriter {
    /// The representation of a literal field. The raw value is the bit pattern of the field's first byte.
    public enum Literal: UInt8, Sendable, CaseIterable {
        case withoutIndexing = 0x00
        case neverIndexed = 0x10
        case incremental = 0x40

        fileprivate var prefixBits: Int { self == .incremental ? 6 : 4 }
    }

    /// Encodes all fields as literals with literal names.
    public static func block(
        _ fields: [(String, String)], as form: Literal = .withoutIndexing, huffman: Bool = false
    ) -> [UInt8] {
        fields.flatMap { literal($0.0, $0.1, as: form, huffman: huffman) }
    }

    public static func literal(
        _ name: String, _ value: String, as form: Literal = .withoutIndexing, huffman: Bool = false
    ) -> [UInt8] {
        [form.rawValue] + text(name, huffman: huffman) + text(value, huffman: huffman)
    }

    /// Encodes a literal field with the name of a table entry.
    public static func literal(
        nameOf index: Int, _ value: String, as form: Literal = .withoutIndexing, huffman: Bool = false
    ) -> [UInt8] {
        integer(index, prefixBits: form.prefixBits, pattern: form.rawValue) + text(value, huffman: huffman)
    }

    /// Encodes a field as a reference to a table entry.
    public static func indexed(_ index: Int) -> [UInt8] { integer(index, prefixBits: 7, pattern: 0x80) }

    public static func tableSizeUpdate(_ bytes: Int) -> [UInt8] { integer(bytes, prefixBits: 5, pattern: 0x20) }

    /// Encodes an integer (RFC 7541, section 5.1). The bits of the first byte above the prefix contain `pattern`.
    public static func integer(_ value: Int, prefixBits: Int, pattern: UInt8 = 0) -> [UInt8] {
        let full = 1 << prefixBits - 1
        guard value >= full else { return [pattern | UInt8(value)] }
        var bytes = [pattern | UInt8(full)]
        var rest = value - full
        while rest >= 128 {
            bytes.append(UInt8(rest & 127 | 128))
            rest >>= 7
        }
        return bytes + [UInt8(rest)]
    }

    private static func text(_ text: String, huffman: Bool) -> [UInt8] {
        let bytes = huffman ? HuffmanCode.encode(text.utf8) : Array(text.utf8)
        return integer(bytes.count, prefixBits: 7, pattern: huffman ? 0x80 : 0) + bytes
    }
}
