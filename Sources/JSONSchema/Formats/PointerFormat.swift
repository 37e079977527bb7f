/// JSON pointers (RFC 6901), and relative JSON pointers.
enum PointerFormat {
    static func isPointer(_ text: Slice<UnsafeRawBufferPointer>) -> Bool {
        guard text.isEmpty || text.first == UInt8(ascii: "/") else { return false }
        var rest = text
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "~") else { continue }
            guard let next = rest.popFirst(), next == UInt8(ascii: "0") || next == UInt8(ascii: "1") else {
                return false
            }
        }
        return true
    }

    /// Returns whether the text is a number of levels, followed by a pointer or `#`.
    static func isRelative(_ text: UnsafeRawBufferPointer) -> Bool {
        let levels = text.prefix { $0.isDigit }
        guard !levels.isEmpty, levels.count == 1 || levels.first != UInt8(ascii: "0") else { return false }
        let rest = text[levels.endIndex...]
        return rest.elementsEqual("#".utf8) || isPointer(rest)
    }
}
