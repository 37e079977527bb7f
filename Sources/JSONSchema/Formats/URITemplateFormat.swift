/// The format of URI templates (RFC 6570).
enum URITemplateFormat {
    static func matches(_ text: UnsafeRawBufferPointer) -> Bool {
        var rest = text[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "{"):
                guard let end = rest.firstIndex(of: UInt8(ascii: "}")), isExpression(rest[..<end]) else { return false }
                rest = rest[(end + 1)...]
            case UInt8(ascii: "%"):
                guard let high = rest.popFirst(), let low = rest.popFirst(), high.isHexDigit, low.isHexDigit else {
                    return false
                }
            case ...0x20, 0x7F: return false
            case _ where "\"'<>\\^`|}".utf8.contains(byte): return false
            default: break
            }
        }
        return true
    }

    private static func isExpression(_ text: Slice<UnsafeRawBufferPointer>) -> Bool {
        var rest = text
        if let first = rest.first, "+#./;?&=,!@|".utf8.contains(first) { rest = rest.dropFirst() }
        return rest.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false).allSatisfy(isVariable)
    }

    /// Returns whether the text is a name, optionally followed by `*`, or by `:` and a prefix length below 10,000.
    private static func isVariable(_ text: Slice<UnsafeRawBufferPointer>) -> Bool {
        var name = text
        if name.last == UInt8(ascii: "*") {
            name = name.dropLast()
        } else if let colon = name.firstIndex(of: UInt8(ascii: ":")) {
            let count = name[(colon + 1)...]
            guard (1...4).contains(count.count), count.first != UInt8(ascii: "0"), count.allSatisfy({ $0.isDigit })
            else { return false }
            name = name[..<colon]
        }
        return name.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).allSatisfy { part in
            var rest = part
            while let byte = rest.popFirst() {
                if byte == UInt8(ascii: "%") {
                    guard let high = rest.popFirst(), let low = rest.popFirst(), high.isHexDigit, low.isHexDigit else {
                        return false
                    }
                } else if !(byte.isLetter || byte.isDigit || byte == UInt8(ascii: "_")) {
                    return false
                }
            }
            return !part.isEmpty
        }
    }
}
