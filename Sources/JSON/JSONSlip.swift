/// A common mistake in a JSON text, such as syntax of other notations or a missing character.
public enum JSONSlip: Sendable, Hashable, CaseIterable {
    case byteOrderMark
    case utf16
    case utf32
    case compressed
    case trailingComma
    case doubleComma
    case missingComma
    case missingColon
    case missingValue
    case singleQuotes
    case bareKey
    case comment
    case notANumber
    case literalCase
    case numberStart

    var message: String {
        switch self {
        case .byteOrderMark: "the text begins with a byte order mark; write UTF-8 without the mark"
        case .utf16: "the text is UTF-16; write UTF-8"
        case .utf32: "the text is UTF-32; write UTF-8"
        case .compressed: "the text is compressed (gzip, zlib or zstd); write uncompressed text"
        case .trailingComma: "a comma before ']' or '}'; remove the comma"
        case .doubleComma: "two commas, or a leading comma: an element or member is missing"
        case .missingComma: "a comma is missing before this position"
        case .missingColon: "a colon is missing before this position"
        case .missingValue: "the value is missing before this position"
        case .singleQuotes: "JSON strings use double quotes, not single quotes"
        case .bareKey: "a key must be a string in double quotes"
        case .comment: "JSON has no comments; remove the comment"
        case .notANumber: "JSON has no NaN and no Infinity; write null, or leave the member out"
        case .numberStart: "a number must begin with a digit, or a minus and a digit"
        case .literalCase: "write true, false and null in lower case, and text in double quotes"
        }
    }
}

/// The syntax element that a parser expects.
enum JSONExpectation {
    case value
    case key
    case colon
    case separator
    /// The end of the text.
    case end
}

extension JSONSlip {
    /// Detects the mistake that explains the unexpected byte at `place`. Returns nil if no common mistake explains it.
    init?(at place: Int, in text: UnsafeBufferPointer<UInt8>, _ expected: JSONExpectation) {
        let rest = text[place...].prefix(Self.wordMax)
        guard let byte = rest.first else { return nil }
        if place < Self.encodingBytes, let slip = Self.encoding(text.prefix(Self.encodingBytes)) {
            self = slip
            return
        }
        if rest.starts(with: "//".utf8) || rest.starts(with: "/*".utf8) || byte == UInt8(ascii: "#") {
            self = .comment
            return
        }
        let before = text[..<place].last { ![0x20, 0x0A, 0x0D, 0x09].contains($0) } ?? 0
        let slip: JSONSlip? =
            switch expected {
            case .value: place == 0 ? Self.atTheBeginning(rest) ?? Self.value(rest, before) : Self.value(rest, before)
            case .key: Self.key(byte, before)
            case .colon: Self.beginsValue(byte) ? .missingColon : nil
            case .separator: Self.beginsValue(byte) ? .missingComma : nil
            case .end: nil
            }
        guard let slip else { return nil }
        self = slip
    }

    private static let wordMax = 9

    private static func atTheBeginning(_ text: Slice<UnsafeBufferPointer<UInt8>>) -> JSONSlip? {
        if text.starts(with: [0xEF, 0xBB, 0xBF]) { return .byteOrderMark }
        return compressedBeginnings.contains { text.starts(with: $0) } ? .compressed : nil
    }

    private static let encodingBytes = 4

    /// Detects UTF-16 and UTF-32 by their byte order mark, or by the zeros beside the first ASCII characters (RFC 4627,
    /// section 3). Texts without a mark are common, because .NET's `Encoding.Unicode.GetBytes` writes none.
    private static func encoding(_ start: Slice<UnsafeBufferPointer<UInt8>>) -> JSONSlip? {
        let bytes = Array(start)
        if [[0, 0, 0xFE, 0xFF], [0xFF, 0xFE, 0, 0]].contains(bytes) { return .utf32 }
        if bytes.starts(with: [0xFE, 0xFF]) || bytes.starts(with: [0xFF, 0xFE]) { return .utf16 }
        switch bytes.map({ $0 == 0 }) {
        case [true, true, true, false], [false, true, true, true]: return .utf32
        case [true, false, true, false], [false, true, false, true]: return .utf16
        default: return nil
        }
    }

    /// The first bytes of data compressed with gzip (RFC 1952, section 2.3.1), zlib at the usual levels (RFC 1950,
    /// section 2.2), and zstd (RFC 8878, section 3.1.1).
    private static let compressedBeginnings: [[UInt8]] = [
        [0x1F, 0x8B], [0x78, 0x01], [0x78, 0x9C], [0x78, 0xDA], [0x28, 0xB5, 0x2F, 0xFD],
    ]

    private static func value(_ text: Slice<UnsafeBufferPointer<UInt8>>, _ before: UInt8) -> JSONSlip? {
        switch (text.first, before) {
        case (UInt8(ascii: "'"), _): return .singleQuotes
        case (UInt8(ascii: "]"), UInt8(ascii: ",")): return .trailingComma
        case (UInt8(ascii: ","), UInt8(ascii: ",")), (UInt8(ascii: ","), UInt8(ascii: "[")): return .doubleComma
        case (UInt8(ascii: ","), UInt8(ascii: ":")), (UInt8(ascii: "}"), UInt8(ascii: ":")): return .missingValue
        case (UInt8(ascii: "+"), _), (UInt8(ascii: "."), _): return .numberStart
        default: break
        }
        if ["NaN", "Infinity", "inf"].contains(where: { text.starts(with: $0.utf8) }) { return .notANumber }
        let literals = ["True", "False", "None", "Null", "TRUE", "FALSE", "NULL", "undefined"]
        return literals.contains { text.starts(with: $0.utf8) } ? .literalCase : nil
    }

    private static func key(_ byte: UInt8, _ before: UInt8) -> JSONSlip? {
        switch (byte, before) {
        case (UInt8(ascii: "'"), _): .singleQuotes
        case (UInt8(ascii: "}"), UInt8(ascii: ",")): .trailingComma
        case (UInt8(ascii: ","), _): .doubleComma
        case (UInt8(ascii: "a")...UInt8(ascii: "z"), _), (UInt8(ascii: "A")...UInt8(ascii: "Z"), _),
            (UInt8(ascii: "0")...UInt8(ascii: "9"), _), (UInt8(ascii: "_"), _), (UInt8(ascii: "$"), _):
            .bareKey
        default: nil
        }
    }

    /// Returns whether the byte begins a value. Letters do not count, because they may belong to a string with an
    /// unescaped quotation mark.
    private static func beginsValue(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: "-"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }
}
