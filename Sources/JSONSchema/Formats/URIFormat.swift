/// URIs with the grammar of RFC 3986, and IRIs with the grammar of RFC 3987.
struct URIFormat {
    var isInternational: Bool

    func matches(_ text: UnsafeRawBufferPointer, isReference: Bool) -> Bool {
        var rest = text[...]
        if let mark = rest.firstIndex(of: UInt8(ascii: "#")) {
            guard isMade(rest[(mark + 1)...], of: "!$&'()*+,;=:@/?") else { return false }
            rest = rest[..<mark]
        }
        if let mark = rest.firstIndex(of: UInt8(ascii: "?")) {
            guard isMade(rest[(mark + 1)...], of: "!$&'()*+,;=:@/?", hasPrivate: true) else { return false }
            rest = rest[..<mark]
        }
        var hasScheme = false
        if let colon = rest.firstIndex(of: UInt8(ascii: ":")), !rest[..<colon].contains(UInt8(ascii: "/")) {
            // Text before a colon in the first segment can only be a scheme, also in a relative reference.
            guard isScheme(rest[..<colon]) else { return false }
            hasScheme = true
            rest = rest[(colon + 1)...]
        }
        guard hasScheme || isReference else { return false }
        if rest.starts(with: "//".utf8) {
            rest = rest.dropFirst(2)
            let authority = rest.prefix { $0 != UInt8(ascii: "/") }
            guard isAuthority(authority) else { return false }
            rest = rest[authority.endIndex...]
        }
        return isMade(rest, of: "!$&'()*+,;=:@/")
    }

    private func isScheme(_ text: Slice<UnsafeRawBufferPointer>) -> Bool {
        guard let first = text.first, first.isLetter else { return false }
        return text.allSatisfy { $0.isLetter || $0.isDigit || "+-.".utf8.contains($0) }
    }

    private func isAuthority(_ text: Slice<UnsafeRawBufferPointer>) -> Bool {
        var rest = text
        if let at = rest.lastIndex(of: UInt8(ascii: "@")) {
            guard isMade(rest[..<at], of: "!$&'()*+,;=:") else { return false }
            rest = rest[(at + 1)...]
        }
        if rest.first == UInt8(ascii: "[") {
            guard let end = rest.firstIndex(of: UInt8(ascii: "]")), isLiteral(rest[(rest.startIndex + 1)..<end]) else {
                return false
            }
            rest = rest[(end + 1)...]
            return rest.isEmpty || rest.first == UInt8(ascii: ":") && rest.dropFirst().allSatisfy { $0.isDigit }
        }
        if let colon = rest.lastIndex(of: UInt8(ascii: ":")) {
            guard rest[(colon + 1)...].allSatisfy({ $0.isDigit }) else { return false }
            rest = rest[..<colon]
        }
        return isMade(rest, of: "!$&'()*+,;=")
    }

    /// Returns whether the text in brackets is an IPv6 address, or an address of a future IP version.
    private func isLiteral(_ text: Slice<UnsafeRawBufferPointer>) -> Bool {
        guard let first = text.first, first | 0x20 == UInt8(ascii: "v") else { return AddressFormat.isIPv6(text) }
        let version = text.dropFirst().prefix { $0.isHexDigit }
        let rest = text[version.endIndex...]
        return !version.isEmpty && rest.first == UInt8(ascii: ".") && rest.count > 1
            && rest.dropFirst().allSatisfy { isUnreserved($0) || "!$&'()*+,;=:".utf8.contains($0) }
    }

    private func isUnreserved(_ byte: UInt8) -> Bool {
        byte.isLetter || byte.isDigit || "-._~".utf8.contains(byte)
    }

    /// Returns whether the text consists of unreserved characters, percent escapes, `others` and, in an IRI, the
    /// characters that `isInternationalCharacter` accepts.
    private func isMade(_ text: Slice<UnsafeRawBufferPointer>, of others: String, hasPrivate: Bool = false) -> Bool {
        var rest = text
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "%"):
                guard let high = rest.popFirst(), let low = rest.popFirst(), high.isHexDigit, low.isHexDigit else {
                    return false
                }
            case 0x80...:
                guard isInternational, isInternationalCharacter(byte, &rest, hasPrivate) else { return false }
            default:
                guard isUnreserved(byte) || others.utf8.contains(byte) else { return false }
            }
        }
        return true
    }

    /// Reads the rest of the character that begins with `first`. Returns whether the character is a `ucschar`, or with
    /// `hasPrivate` an `iprivate`, of RFC 3987.
    private func isInternationalCharacter(
        _ first: UInt8, _ rest: inout Slice<UnsafeRawBufferPointer>, _ hasPrivate: Bool
    ) -> Bool {
        let count = first >= 0xF0 ? 3 : first >= 0xE0 ? 2 : 1
        var value = UInt32(first) & (0x3F >> UInt32(count))
        for byte in rest.prefix(count) { value = value << 6 | UInt32(byte & 0x3F) }
        rest = rest.dropFirst(count)
        switch value {
        case 0xE000...0xF8FF, 0xF0000...0x10FFFF: return hasPrivate && value & 0xFFFE != 0xFFFE
        case 0xA0...0xD7FF, 0xF900...0xFDCF, 0xFDF0...0xFFEF: return true
        case 0x10000...0xEFFFF: return value & 0xFFFE != 0xFFFE && !(0xE0000...0xE0FFF).contains(value)
        default: return false
        }
    }
}
