/// The format of mail addresses, which is `Mailbox` of RFC 5321, section 4.1.2. International addresses follow RFC
/// 6531.
enum MailboxFormat {
    static let localBytesMax = 64

    static func matches(_ text: UnsafeRawBufferPointer, isInternational: Bool) -> Bool {
        guard let at = text.lastIndex(of: UInt8(ascii: "@")) else { return false }
        let local = text[..<at]
        guard (1...localBytesMax).contains(local.count) else { return false }
        return (isDotted(local, isInternational) || isQuoted(local, isInternational))
            && isDomain(text[(at + 1)...], isInternational)
    }

    private static func isDotted(_ text: Slice<UnsafeRawBufferPointer>, _ isInternational: Bool) -> Bool {
        text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).allSatisfy { atom in
            !atom.isEmpty
                && atom.allSatisfy { byte in
                    byte.isLetter || byte.isDigit || "!#$%&'*+-/=?^_`{|}~".utf8.contains(byte)
                        || isInternational && byte >= 0x80
                }
        }
    }

    private static func isQuoted(_ text: Slice<UnsafeRawBufferPointer>, _ isInternational: Bool) -> Bool {
        let quote = UInt8(ascii: "\"")
        guard text.count >= 2, text.first == quote, text.last == quote else { return false }
        var rest = text.dropFirst().dropLast()
        while let byte = rest.popFirst() {
            guard byte >= 0x20, byte != 0x7F, byte < 0x80 || isInternational, byte != quote else { return false }
            if byte == UInt8(ascii: "\\") {
                guard let next = rest.popFirst(), (0x20..<0x7F).contains(next) else { return false }
            }
        }
        return true
    }

    private static func isDomain(_ text: Slice<UnsafeRawBufferPointer>, _ isInternational: Bool) -> Bool {
        if text.first == UInt8(ascii: "["), text.last == UInt8(ascii: "]"), text.count > 2 {
            let address = text.dropFirst().dropLast()
            let tag = "IPv6:".utf8
            guard address.count > tag.count,
                address.prefix(tag.count).elementsEqual(tag, by: { $0 | 0x20 == $1 | 0x20 })
            else { return AddressFormat.isIPv4(address) }
            return AddressFormat.isIPv6(address.dropFirst(tag.count))
        }
        return isInternational
            ? InternationalHostname.matches(UnsafeRawBufferPointer(rebasing: text)) : HostnameFormat.matches(text)
    }
}
