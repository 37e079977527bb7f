/// The representation of a header field on the wire (RFC 7541, 6), in one byte.
public struct HeaderRepresentation: RawRepresentable, Sendable, Hashable {
    public enum Form: UInt8, Sendable, CaseIterable {
        /// Name and value from a table (6.1).
        case indexed = 1
        /// A literal that is added to the table (6.2.1).
        case incremental
        /// A literal that is not added to the table (6.2.2).
        case withoutIndexing
        /// A literal that no intermediary may add to a table (6.2.3).
        case neverIndexed
    }

    public var rawValue: UInt8

    private static let formMask: UInt8 = 0b111
    private static let nameIndexedBit: UInt8 = 1 << 3
    private static let nameHuffmanBit: UInt8 = 1 << 4
    private static let valueHuffmanBit: UInt8 = 1 << 5

    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    public init(
        _ form: Form?, isNameIndexed: Bool = false, isNameHuffman: Bool = false, isValueHuffman: Bool = false
    ) {
        rawValue = form?.rawValue ?? 0
        if isNameIndexed { rawValue |= Self.nameIndexedBit }
        if isNameHuffman { rawValue |= Self.nameHuffmanBit }
        if isValueHuffman { rawValue |= Self.valueHuffmanBit }
    }

    /// The form; nil if unknown. nghttp2 reports only ``Form/neverIndexed``. The other forms need
    /// ``HTTP2ServerDelegate/wantsHeaderRepresentations``.
    public var form: Form? { Form(rawValue: rawValue & Self.formMask) }

    public var neverIndexed: Bool { form == .neverIndexed }

    /// Whether the name is a table index.
    public var isNameIndexed: Bool { rawValue & Self.nameIndexedBit != 0 }

    /// Whether the name is a literal in Huffman code.
    public var isNameHuffman: Bool { rawValue & Self.nameHuffmanBit != 0 }

    /// Whether the value is a literal in Huffman code.
    public var isValueHuffman: Bool { rawValue & Self.valueHuffmanBit != 0 }
}
