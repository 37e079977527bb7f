extension JSONValue {
    /// Size of the shortest UTF-8 text of the same value, without whitespace between tokens, and with only the escapes
    /// that JSON requires. Numbers keep their notation.
    public var compactByteCount: Int {
        switch kind {
        case .object:
            members.reduce(1) { $0 + $1.key.compactByteCount + $1.value.compactByteCount + 2 } + emptyByteCount
        case .array: elements.reduce(1) { $0 + $1.compactByteCount + 1 } + emptyByteCount
        case .string: (withUTF8 { $0.reduce(0) { $0 + Self.byteCount(of: $1) } } ?? 0) + 2
        case .number, .boolean, .null: sourceRange.count
        }
    }

    /// Correction for an empty container. In other containers, the closing bracket is counted as the comma after the
    /// last element.
    private var emptyByteCount: Int { count == 0 ? 1 : 0 }

    private static func byteCount(of byte: UInt8) -> Int {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), 0x08, 0x09, 0x0A, 0x0C, 0x0D: 2
        case 0..<0x20: 6
        default: 1
        }
    }
}
