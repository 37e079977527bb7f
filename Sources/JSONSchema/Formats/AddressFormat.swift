/// The formats of IP addresses, which are dotted decimal (RFC 2673) and IPv6 (RFC 4291).
enum AddressFormat {
    static func isIPv4(_ text: Slice<UnsafeRawBufferPointer>) -> Bool {
        guard text.count <= 15 else { return false }
        let parts = text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return parts.count == 4
            && parts.allSatisfy { part in
                (1...3).contains(part.count) && part.allSatisfy { $0.isDigit }
                    // Some programs read a leading zero as octal.
                    && (part.count == 1 || part.first != UInt8(ascii: "0"))
                    && part.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) } < 256
            }
    }

    static func isIPv6(_ text: Slice<UnsafeRawBufferPointer>) -> Bool {
        guard text.count <= 45 else { return false }
        var groups = 0
        var hasGap = false
        var rest = text
        if rest.starts(with: "::".utf8) {
            hasGap = true
            rest = rest.dropFirst(2)
            if rest.isEmpty { return true }
        }
        while true {
            let group = rest.prefix { $0 != UInt8(ascii: ":") }
            rest = rest.dropFirst(group.count)
            if group.contains(UInt8(ascii: ".")) {
                guard rest.isEmpty, isIPv4(group) else { return false }
                groups += 2
                break
            }
            guard (1...4).contains(group.count), group.allSatisfy({ $0.isHexDigit }) else { return false }
            groups += 1
            guard !rest.isEmpty else { break }
            rest = rest.dropFirst()
            if rest.first == UInt8(ascii: ":") {
                guard !hasGap else { return false }
                hasGap = true
                rest = rest.dropFirst()
                if rest.isEmpty { break }
            }
        }
        return hasGap ? groups <= 7 : groups == 8
    }
}
